import t from 'tap';
import type { Adapter } from '../../../src/upstream/adapter.ts';
import { serpapi } from '../../../src/upstream/providers/serpapi/adapter.ts';
import { rowsOf, serpSearch } from '../../../src/upstream/providers/serpapi/client.ts';
import { adapterContract, openSetting, problemOf } from './contract.ts';

const adapter = serpapi as Adapter;
const search = (engine: string) => ({ adapter, upstream: { keys: { key: 'SERPAPI_API_KEY' } }, options: { engine } });
const listOf = (name: string, ...required: string[]) => ({
  type: 'object',
  required: [name],
  properties: { [name]: { type: 'array', minItems: 1, items: { required } } },
});

adapterContract(t, 'a search at Google Shopping', {
  ...search('google_shopping'),
  input: { q: 'brass lantern', gl: 'us' },
  result: listOf('shopping_results', 'title', 'product_link', 'extracted_price', 'source'),
  refusal: 'invalid-input',
});
adapterContract(t, 'a search at Amazon', {
  ...search('amazon'),
  input: { k: 'brass lantern' },
  result: listOf('organic_results', 'asin', 'title', 'link'),
  refusal: 'invalid-input',
});
adapterContract(t, 'a search at eBay', {
  ...search('ebay'),
  input: { _nkw: 'brass lantern' },
  result: listOf('organic_results', 'title', 'link', 'price', 'condition'),
  refusal: 'invalid-input',
});
adapterContract(t, 'Google Lens', {
  ...search('google_lens'),
  input: { url: 'https://photos.example/lantern.jpg', type: 'all' },
  result: listOf('visual_matches', 'title', 'link', 'source'),
  refusal: 'invalid-input',
});

t.test('a search that finds nothing is an answer without rows', async (t) => {
  const { binding, context } = await openSetting(t, search('ebay'));
  const answer = await serpSearch(binding, 'ebay', { _nkw: 'nothing at all' }, context);
  t.match(answer.error, /hasn't returned any results/);
  t.same(rowsOf(answer, 'organic_results'), []);
});

t.test('the status of a search says whether it failed, whatever its error says', async (t) => {
  const { binding, context } = await openSetting(t, search('ebay'));
  const searching = (answer: object) => {
    const http = {
      ...binding.http,
      request: async (request: Parameters<typeof binding.http.request>[0]) => {
        const response = await binding.http.request(request);
        return { ...response, json: () => answer };
      },
    };
    return serpSearch({ ...binding, http }, 'ebay', { _nkw: 'lantern' }, context);
  };
  const error = 'No exact matches found';
  for (const status of ['Success', 'Cached']) {
    t.same(rowsOf(await searching({ search_metadata: { status }, error }), 'organic_results'), [], status);
  }
  for (const answer of [{ search_metadata: { status: 'Error' }, error }, { error }]) {
    t.equal((await problemOf(searching(answer))).failure, 'failed', JSON.stringify(answer));
  }
});

t.test('the key is sent as a parameter and is in no problem that a call ends in', async (t) => {
  const { binding, context, doubles, secrets } = await openSetting(t, search('amazon'));
  for (const fault of ['500', '429', 'malformed', 'refuse'] as const) {
    doubles.fault('the-upstream', fault, fault === '429' ? 3 : 1);
    const problem = await problemOf(serpSearch(binding, 'amazon', { k: 'lantern' }, context));
    t.notMatch(`${problem.message} ${problem.stack} ${problem.publicMessage}`, secrets.key, fault);
    t.notMatch(problem.message, /api_key/, fault);
  }
});
