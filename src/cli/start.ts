/** `turnpike start`: the gateway. Loaded once its words are read, for it begins at once. */
import { run } from './command.ts';
import { readCommandLine } from './command-line.ts';

const USAGE = `npm start

  the gateway that sells the catalogue in TURNPIKE_CATALOGUE (default: catalogue): in the sandbox, or with TURNPIKE_MODE=live for
  money. Variables say everything else; Ctrl-C lets calls under way finish, and ends it`;

await run(async () => {
  readCommandLine(USAGE, {}, process.argv.slice(2));
  await import('../main.ts');
});
