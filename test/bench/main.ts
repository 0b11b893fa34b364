/** `npm run bench`: the gateway beside its peers, each row a ratio inside one run on one machine. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { multiplyCatalogue } from './catalogue.ts';
import { timeChat } from './chat.ts';
import { startGateway } from './gateway.ts';
import { startLoad } from './load.ts';
import { measure, type Work } from './measure.ts';
import { startPeer } from './peer.ts';
import { type ServerProcess, startServer } from './server-process.ts';
import { ask, timeStarts } from './start.ts';
import { subject } from './subject.ts';
import { addedRow, limitRow, missingRow, printed, processorRow, type Row, rateRow } from './table.ts';

const CALLERS = 64;
/** Many short ones: neighbours on the machine then disturb all servers alike. */
const ROUNDS = 9;
const STARTS = 3;
/** Ten times what is shipped. */
const MANY_ROUTES = 1_700;

const unpaid: Work = { ...subject, callers: CALLERS, milliseconds: 500, requests: 20_000, expects: 402 };
const paid: Work = { ...subject, callers: CALLERS, milliseconds: 700, requests: 4_000, expects: 200 };

/** Headers that belong to a connection, or that Express counts itself. */
const NOT_CONSTANT = ['connection', 'keep-alive', 'date', 'content-length', 'transfer-encoding'];

const say = (text: string): boolean => process.stderr.write(`${text}\n`);

const directory = mkdtempSync(join(tmpdir(), 'turnpike-bench-'));
const stops: (() => unknown)[] = [];

async function kept(server: Promise<ServerProcess>): Promise<ServerProcess> {
  const started = await server;
  stops.push(started.stop);
  return started;
}

async function bench(): Promise<Row[]> {
  const catalogue = process.env.TURNPIKE_CATALOGUE ?? 'catalogue';
  const doubles = await kept(
    startServer({ words: ['--import=tsx', 'test/bench/servers/doubles.ts'], environment: {} }),
  );
  const options = { data: join(directory, 'data'), catalogue, doublesUrl: doubles.url };
  const gateway = await kept(startGateway(options));

  const { headers, body } = await ask(gateway.url);
  for (const name of NOT_CONSTANT) delete headers[name];
  const answerFile = join(directory, 'answer.json');
  writeFileSync(answerFile, JSON.stringify({ headers, body }));
  const startBare = () =>
    startServer({
      words: ['--import=tsx', 'test/bench/servers/constant-402.ts'],
      environment: { BENCH_ANSWER: answerFile },
    });
  const bare = await kept(startBare());

  const peer = await startPeer(doubles.url).catch((error: unknown) => {
    say(`@x402/express could not be had: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  });
  if (peer) stops.push(peer.stop);

  say('starts');
  const starts = await timeStarts({ ...options, data: join(directory, 'starts') }, startBare, STARTS);

  const manyCatalogue = join(directory, 'catalogue');
  const routes = multiplyCatalogue(catalogue, manyCatalogue, MANY_ROUTES);
  const many = await kept(startGateway({ ...options, data: join(directory, 'many'), catalogue: manyCatalogue }));

  const load = startLoad();
  stops.push(load.stop);
  say('calls without a payment');
  const asked = await measure(load, { gateway, bare, many, peer }, unpaid, ROUNDS);
  say('paid calls');
  const bought = await measure(load, { gateway, peer }, paid, ROUNDS);

  say('paid calls over MCP');
  const tool = await measure(load, { gateway }, { ...paid, tool: subject.tool }, ROUNDS);

  say('chat completions');
  const { plain, firstByte } = await timeChat(load, { ...options, gatewayUrl: gateway.url });

  const onExpress = '@x402/express';
  return [
    rateRow('402 beside bare Express', asked.gateway, asked.bare, 0.8),
    ...processorRow('  processor time each', asked.gateway, asked.bare),
    ...(asked.peer
      ? [
          rateRow(`402 beside ${onExpress}`, asked.gateway, asked.peer, 2),
          ...processorRow('  processor time each', asked.gateway, asked.peer),
        ]
      : [missingRow(`402 beside ${onExpress}`, 2)]),
    ...(bought.peer
      ? [
          rateRow(`paid call beside ${onExpress}`, bought.gateway, bought.peer, 3),
          ...processorRow('  processor time each', bought.gateway, bought.peer),
        ]
      : [missingRow(`paid call beside ${onExpress}`, 3)]),
    rateRow('paid tool call (MCP) beside the same over HTTP', tool.gateway, bought.gateway, 0.77),
    ...processorRow('  processor time each', tool.gateway, bought.gateway),
    rateRow(`402 with ${routes.toLocaleString('en')} routes beside the usual`, asked.many, asked.gateway, 0.95),
    ...processorRow('  processor time each', asked.many, asked.gateway),
    addedRow('chat completion beside its upstream, p50', plain.gateway, plain.upstream, 1),
    addedRow('chat stream beside its upstream, first byte, p50', firstByte.gateway, firstByte.upstream, 5),
    limitRow(
      'live start to first 402 beside bare Express',
      starts.gateway.map(({ milliseconds }) => milliseconds),
      starts.bare.map(({ milliseconds }) => milliseconds),
      1_500,
      'ms',
    ),
    limitRow(
      'resident memory, idle, live',
      starts.gateway.map(({ megabytes }) => megabytes),
      starts.bare.map(({ megabytes }) => megabytes),
      200,
      'MB',
    ),
  ];
}

try {
  process.stdout.write(`${printed(await bench())}\n`);
} finally {
  for (const stop of stops.reverse()) await stop();
  rmSync(directory, { recursive: true, force: true });
}
