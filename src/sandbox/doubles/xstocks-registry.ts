import { type DoubleKind, jsonAnswer } from './double.ts';
import { tokenFixtures, unpricedStock } from './market-fixtures.ts';

const PAGE_SIZE = 2;

/**
 * The registry of xStocks: pages of assets, counted from 0. Small pages, so that readers have to turn them.
 * Shapes as its consumers read them: the provider documents none.
 */
export const xstocksRegistryDouble: DoubleKind = {
  adapter: 'xstocks-registry',
  open() {
    const listed = tokenFixtures.filter(({ tags }) => tags.includes('xstocks'));
    const stocks = [...listed.filter(({ symbol }) => symbol.endsWith('x')), unpricedStock];
    return {
      isBilled: ({ method, path }) => method === 'GET' && path === '/assets',
      answer({ method, path, query }) {
        if (method !== 'GET' || path !== '/assets') return jsonAnswer(404, { message: 'Not Found', statusCode: 404 });
        const current = Number(query.get('page') ?? 0);
        const nodes = stocks.slice(current * PAGE_SIZE, (current + 1) * PAGE_SIZE).map(({ symbol, name, mint }) => ({
          symbol,
          name,
          underlyingSymbol: symbol.slice(0, -1),
          deployments: [
            { network: 'Ethereum', address: '0x0000000000000000000000000000000000000001' },
            { network: 'Solana', address: mint },
          ],
        }));
        const hasNextPage = (current + 1) * PAGE_SIZE < stocks.length;
        return jsonAnswer(200, { nodes, page: { currentPage: current, hasNextPage, pageSize: PAGE_SIZE } });
      },
      errorBody: (status) => ({
        message: status === 429 ? 'Too Many Requests' : 'Internal server error',
        statusCode: status,
      }),
      refuse: () => jsonAnswer(404, { message: 'Not Found', statusCode: 404 }),
    };
  },
};
