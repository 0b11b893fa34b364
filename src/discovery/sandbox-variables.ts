import { quoted } from './shell.ts';

/** `NAME=value` of each, from `GET /sandbox`; no value has a character that a shell would read. */
const ASSIGNMENTS =
  'Object.entries(JSON.parse(fs.readFileSync(0)).environment).map((each) => each.join("=")).join(" ")';

/** A command that sets what the examples read: keys of the sandbox's wallets, and where its chains are. */
export const sandboxVariables = (publicUrl: string): string =>
  `export $(curl -s ${publicUrl}/sandbox | node -p ${quoted(ASSIGNMENTS)})`;
