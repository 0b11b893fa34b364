/** Serves the console's page over sample figures, as the gateway's admin port does. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import express, { type Response } from 'express';
import type { CataloguePage, KeyForm, NewKeyForm, PaymentDetail, RefundOrderForm } from '../../src/console/figures.ts';
import { catalogue, detailOf, keysAt, networks, overviewOf, paymentsUntil, upstreams } from './sample-figures.ts';

const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
const TYPES: Readonly<Record<string, string>> = { 'index.html': 'html', 'console.js': 'js', 'console.css': 'css' };
const PAGE = 50;
const SESSION = 'session=signed-in';

export interface SampleGateway {
  readonly url: string;
  readonly token: string;
  /** Bodies of the refunds that were asked for. */
  readonly refunds: readonly RefundOrderForm[];
  /** Settings of what the next answers are like. */
  readonly mood: {
    isSilent: boolean;
    isForgetful: boolean;
    isEmpty: boolean;
    slowMs: number;
    problems: readonly string[];
  };
  stop(): Promise<void>;
}

const refuse = (response: Response, status: number, error: string, field?: string): void => {
  response.status(status).json({ error, field });
};

export async function startSampleGateway(): Promise<SampleGateway> {
  const token = 'a-token-of-this-test';
  const now = Date.now();
  const payments = new Map<string, PaymentDetail>(paymentsUntil(now).map((row) => [row.id, detailOf(row)]));
  const refunds: RefundOrderForm[] = [];
  const keys = keysAt(now);
  const references = new Set<string>();
  const mood: SampleGateway['mood'] = { isSilent: false, isForgetful: false, isEmpty: false, slowMs: 0, problems: [] };
  let onSale: CataloguePage = catalogue;

  const app = express();
  app.use((_request, response, next) => {
    if (mood.isSilent) return void response.destroy();
    // What is asked for is done, and nobody is told.
    if (mood.isForgetful) response.json = () => response.destroy();
    response.set({ 'content-security-policy': CSP, 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' });
    setTimeout(next, mood.slowMs);
  });
  const file = (name: string) => readFileSync(new URL(`../../generated/console/${name}`, import.meta.url), 'utf8');
  app.get('/console', (_request, response) => void response.type('html').send(file('index.html')));
  app.get('/console/:name', (request, response, next) => {
    const type = TYPES[request.params.name];
    if (!type) return next();
    response.type(type).send(file(request.params.name));
  });

  const api = express.Router();
  api.use(express.json());
  api.post('/session', (request, response) => {
    if (request.body.token !== token) return refuse(response, 401, 'that is not the token');
    response.set('set-cookie', `${SESSION}; HttpOnly; SameSite=Strict; Path=/console`).json({});
  });
  api.delete('/session', (_request, response) => {
    response.set('set-cookie', 'session=; Max-Age=0; Path=/console').json({});
  });
  api.use((request, response, next) => {
    if (request.headers.cookie?.includes(SESSION)) next();
    else refuse(response, 401, 'sign in first');
  });

  api.get('/overview', ({ query }, response) => {
    const overview = overviewOf(Number(query.from), Number(query.to));
    response.json(mood.isEmpty ? { ...overview, endpoints: [], networks: [], doors: [] } : overview);
  });
  api.get('/payments', ({ query }, response) => {
    const { after, ...filter } = query as Record<string, string>;
    const found = [...payments.values()].filter((payment) =>
      Object.entries(filter).every(([name, value]) => payment[name as 'state'] === value),
    );
    const start = after === undefined ? 0 : found.findIndex(({ id }) => id === after) + 1;
    const page = mood.isEmpty ? [] : found.slice(start, start + PAGE);
    response.json({ payments: page, after: start + PAGE < found.length ? page.at(-1)?.id : undefined });
  });
  api.get('/payments/:id', (request, response) => {
    const payment = payments.get(request.params.id);
    if (payment) response.json(payment);
    else refuse(response, 404, 'no such payment');
  });
  api.post('/payments/:id/refund', (request, response) => {
    const payment = payments.get(request.params.id);
    if (!payment) return refuse(response, 404, 'no such payment');
    const order: RefundOrderForm = request.body;
    const isDone = refunds.some(({ reference }) => reference === order.reference);
    refunds.push(order);
    if (isDone) return void response.json(payment);
    if (order.reason === 'refuse this')
      return refuse(response, 409, 'its result is owed: it can only be given back whole');
    const refund = {
      number: payment.refunds.length + 1,
      amount: order.amount ?? payment.left,
      state: 'wanted' as const,
      reason: order.reason,
      createdAt: Date.now(),
    };
    const left = String(Math.round((Number(payment.left) - Number(refund.amount)) * 1e6) / 1e6);
    const after = { ...payment, refunds: [...payment.refunds, refund], left };
    payments.set(payment.id, after);
    response.json(after);
  });
  api.get('/upstreams', (_request, response) => void response.json(mood.isEmpty ? [] : upstreams));
  api.get('/networks', (_request, response) => void response.json(mood.isEmpty ? [] : networks));
  api.get('/keys', (_request, response) => void response.json({ liability: '148.52', keys: mood.isEmpty ? [] : keys }));
  api.post('/keys', (request, response) => {
    const { label, credits, dailyLimit }: NewKeyForm = request.body;
    const limit = dailyLimit === undefined ? {} : { dailyLimit };
    const key = {
      id: `key-${keys.length + 1}`,
      shown: 'tp_live_new0',
      label,
      balance: credits,
      spentToday: '0',
      ...limit,
      createdAt: Date.now(),
    };
    keys.push(key);
    response.json({ key, secret: 'tp_live_new0_the_whole_secret_of_the_key' });
  });
  api.post('/keys/:id', (request, response) => {
    const at = keys.findIndex(({ id }) => id === request.params.id);
    const key = keys[at];
    if (!key) return refuse(response, 404, 'no such key');
    const { disabled, topUp, reference = '', dailyLimit }: KeyForm = request.body;
    const { dailyLimit: limitBefore, ...rest } = key;
    const limit = dailyLimit === undefined ? limitBefore : (dailyLimit ?? undefined);
    keys[at] = {
      ...rest,
      ...(limit !== undefined && { dailyLimit: limit }),
      ...(disabled && { disabledAt: Date.now() }),
      balance: String(Number(key.balance) + (references.has(reference) ? 0 : Number(topUp ?? 0))),
    };
    if (reference !== '') references.add(reference);
    response.json(keys[at]);
  });
  api.get('/catalogue', (_request, response) => {
    const { pending, ...page } = onSale;
    const problems = mood.problems;
    response.json(problems.length > 0 ? { ...page, pending: { changes: [], problems } } : { ...page, pending });
  });
  api.post('/catalogue/reload', (_request, response) => {
    if (mood.problems.length > 0) return refuse(response, 409, `nothing is loaded: ${mood.problems[0]}`);
    const { pending: _, ...page } = onSale;
    onSale = { ...page, version: '90ab12cd34ef' };
    response.json(onSale);
  });
  api.get('/export', (_request, response) => void response.type('csv').attachment('books.csv').send('id,time\n'));
  app.use('/console/api', api);

  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${port}`, token, refunds, mood, stop };
}
