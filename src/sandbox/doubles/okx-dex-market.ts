/**
 * OKX's market API. Signatures are checked as OKX checks them; known tokens only, for others it answers nothing.
 * Read on 2026-11-22 in github okx/onchainos-skills at 230f741: fields and their values in
 * skills/okx-dex-market/references (token, market, signal, social) and skills/okx-agentic-wallet/references
 * (security), signing and the envelope in cli/src/client.rs, and what the live service answers in cli/tests, which asks
 * it; on 2026-11-29 codes of errors in web3.okx.com/onchainos/dev-docs/market/market-token-error-code. What it answers of
 * an unknown token was not found.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Upstream } from '../../catalogue/types.ts';
import {
  type Double,
  type DoubleAnswer,
  type DoubleKind,
  type DoubleRequest,
  jsonAnswer,
  sandboxSecret,
} from './double.ts';
import * as rows from './okx-rows.ts';
import { find, type ListedToken } from './okx-tokens.ts';

export const okxDexMarketDouble: DoubleKind = { adapter: 'okx-dex-market', open };

/** OKX lets a timestamp be this far off. */
const MOST_SKEW_MS = 30_000;

const failure = (code: string, msg: string) => ({ code, msg, data: [] });

function open(upstream: Upstream): Double {
  const { key = '', secret = '', passphrase = '' } = upstream.keys ?? {};

  return {
    unauthorized(request) {
      const { headers } = request;
      const timestamp = String(headers['ok-access-timestamp'] ?? '');
      const refuse = (code: string, msg: string) => jsonAnswer(401, failure(code, msg));
      if (headers['ok-access-key'] !== sandboxSecret(key)) return refuse('50111', 'Invalid OK-ACCESS-KEY');
      if (headers['ok-access-passphrase'] !== sandboxSecret(passphrase))
        return refuse('50105', 'Invalid OK-ACCESS-PASSPHRASE');
      if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(timestamp))
        return refuse('50112', 'Invalid OK-ACCESS-TIMESTAMP');
      if (Math.abs(Date.now() - Date.parse(timestamp)) > MOST_SKEW_MS)
        return refuse('50102', 'Timestamp request expired');
      return isSigned(request, timestamp, sandboxSecret(secret)) ? undefined : refuse('50113', 'Invalid Sign');
    },
    isBilled: ({ path }) => path.startsWith('/api/v6/'),
    answer: (request) => answerOf(request),
    errorBody: (status) =>
      status === 429 ? failure('50011', 'Too Many Requests') : failure('50001', 'Service temporarily unavailable'),
    // What callers beyond the free quota get: a price.
    refuse() {
      const accepts = [
        { scheme: 'exact', network: 'eip155:196', amount: '100', payTo: '0x0000000000000000000000000000000000000001' },
      ];
      const required = Buffer.from(JSON.stringify({ x402Version: 2, accepts })).toString('base64');
      return jsonAnswer(
        402,
        { x402Version: 2, accepts },
        { 'payment-required': required, 'ok-web3-openapi-pay': 'Basic=1;Premium=1' },
      );
    },
  };
}

/** Over timestamp, method, path with query, and body; a query is signed as it is sent, form-encoded. */
function isSigned({ method, path, query, body, headers }: DoubleRequest, timestamp: string, secret: string): boolean {
  const asked = query.toString();
  const signed = timestamp + method + path + (asked === '' ? '' : `?${asked}`) + body.toString('utf8');
  const expected = createHmac('sha256', secret).update(signed).digest();
  const given = Buffer.from(String(headers['ok-access-sign'] ?? ''), 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

type Answer = (request: DoubleRequest) => unknown;

const token = (request: DoubleRequest): ListedToken | undefined =>
  find(request.query.get('chainIndex'), request.query.get('tokenContractAddress'));

/** Rows for a token that is known, none for any other. */
const about =
  (rowsOf: (found: ListedToken, query: URLSearchParams) => unknown[]): Answer =>
  (request) => {
    const found = token(request);
    return found === undefined ? [] : rowsOf(found, request.query).slice(0, Number(request.query.get('limit') ?? 100));
  };

/** The tokens that a body names. */
function namedTokens(request: DoubleRequest): ListedToken[] {
  const named: unknown = JSON.parse(request.body.toString('utf8') || '[]');
  return (Array.isArray(named) ? named : []).flatMap(({ chainIndex, tokenContractAddress }) => {
    return find(chainIndex, tokenContractAddress) ?? [];
  });
}

const market = '/api/v6/dex/market';

const answers: Readonly<Record<string, Answer>> = {
  [`GET ${market}/token/hot-token`]: ({ query }) => rows.hotTokens(query),
  [`GET ${market}/token/search`]: ({ query }) => rows.searched(query),
  [`POST ${market}/token/basic-info`]: (request) => namedTokens(request).map(rows.basicInfo),
  [`POST ${market}/price-info`]: (request) => namedTokens(request).map(rows.priceInfo),
  [`GET ${market}/token/advanced-info`]: about((found) => [rows.advancedInfo(found)]),
  [`GET ${market}/token/holder`]: about(rows.holders),
  [`GET ${market}/trades`]: about(rows.trades),
  [`GET ${market}/candles`]: about(rows.candles),
  [`GET ${market}/token/cluster/overview`]: about((found) => [rows.clusterOverview(found)]),
  [`GET ${market}/token/cluster/top-holders`]: about((found) => [rows.clusterTopHolders(found)]),
  [`GET ${market}/leaderboard/list`]: ({ query }) => rows.leaderboard(query),
  [`GET ${market}/social/news/by-symbol`]: ({ query }) => ({ articles: rows.news(query), cursor: null }),
  [`GET ${market}/social/sentiment/symbol`]: ({ query }) => ({
    period: '24h',
    ts: String(Date.now()),
    details: rows.sentiment(query),
  }),
  [`POST ${market}/signal/list`]: ({ body }) => rows.signals(JSON.parse(body.toString('utf8'))),
  'POST /api/v6/security/token-scan': ({ body }) => rows.scans(JSON.parse(body.toString('utf8'))),
};

function answerOf(request: DoubleRequest): DoubleAnswer {
  const answer = answers[`${request.method} ${request.path}`];
  if (answer === undefined) return jsonAnswer(404, failure('50404', `Not Found: ${request.path}`));
  const needsToken =
    request.method === 'GET' && /\/(?:advanced-info|holder|trades|candles|overview|top-holders)$/.test(request.path);
  if (needsToken && !request.query.get('tokenContractAddress')) {
    return jsonAnswer(400, failure('50014', 'Parameter tokenContractAddress cannot be empty'));
  }
  return jsonAnswer(200, { code: '0', msg: '', data: answer(request) });
}
