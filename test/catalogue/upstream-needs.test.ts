/** What an endpoint's upstream needs is there, and what a caller may send is read: other catalogues are refused at load. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import t from 'tap';
import { checkCatalogue } from '../../src/catalogue/load.ts';
import { formatDiagnostic } from '../../src/catalogue/yaml/diagnostic.ts';
import { shipped } from '../../src/gateway/shipped.ts';

t.test('every way of naming no model is reported at its place', async (t) => {
  const directory = t.testdir();
  cpSync('catalogue', directory, { recursive: true });
  const edit = (endpoint: string, from: string, to: string) => {
    const file = join(directory, 'endpoints', `${endpoint}.yaml`);
    const text = readFileSync(file, 'utf8');
    if (!text.includes(from)) throw new Error(`${endpoint} has no ${from}`);
    writeFileSync(file, text.replace(from, to));
  };
  edit('llm/vendor4-4.5', '{ via: chat, model: vendor4-4.5,', '{ via: chat,');
  edit('llm/multi-model', 'required: [model]', 'required: [prompt]');
  edit('llm/multi-model', 'rule: usage-tokens, by: model', 'rule: usage-tokens, model: vendor5-k3');
  edit('image/family-e', 'model: family-e', '');
  edit('image/designer', 'words: { via: chat, model: vendor2-3.5-flash }', 'words: { via: chat }');
  const { diagnostics: problems } = checkCatalogue(directory, shipped);
  t.same(
    problems.map(({ file, message }) => [file.split('endpoints/')[1], message]),
    [
      ['image/designer.yaml', 'chat speaks openai-chat, which needs a model'],
      ['image/family-e.yaml', 'predictions speaks replicate-predictions, which needs a model'],
      ['llm/multi-model.yaml', 'chat speaks openai-chat, which needs a model'],
      ['llm/vendor4-4.5.yaml', 'chat speaks openai-chat, which needs a model'],
    ],
  );
});

/** A file, what is changed in it to what, and the text that each mistake is reported at with what is said of it. */
const unmet: [string, string, string, [string, string][]][] = [
  [
    'endpoints/llm/vendor3-5.6-luna.yaml',
    'usage-tokens, model: vendor3-5.6-luna',
    'usage-tokens, model: vendor4-4.5',
    [],
  ],
  [
    'endpoints/llm/vendor3-5.6-terra.yaml',
    'usage-tokens, model: vendor3-5.6-terra',
    'usage-tokens, model: vendor4-4.5',
    [
      [
        'vendor4-4.5, markup',
        'vendor3-5.6-terra does the work, and a million of its tokens cost more than is asked for those of vendor4-4.5; name vendor3-5.6-terra here, or raise markup',
      ],
    ],
  ],
  [
    'endpoints/llm/vendor5-k3.yaml',
    'upstream: { via: chat, model: vendor5-k3, result: usage }',
    'upstream: [{ via: chat, model: vendor5-k3, result: usage }, { via: chat, model: vendor1-fable-5, result: usage }]',
    [],
  ],
  [
    'endpoints/tokens-api/search.yaml',
    'required: [q]',
    'required: []',
    [
      [
        '{ type: string, minLength: 1, description: "A name',
        'tokens needs q in every call, and request may leave it out; q in required, or a default',
      ],
    ],
  ],
  [
    'endpoints/tokens-api/resolve.yaml',
    '  oneOf:\n    - { required: [mint] }\n    - { required: [ref] }\n',
    '',
    [
      [
        'mint: ',
        'tokens needs mint or ref, and request may have neither; one of them in required, or oneOf: [{ required: [mint] }, { required: [ref] }]',
      ],
    ],
  ],
  [
    'endpoints/prediction-market/market-list.yaml',
    'page: { type: number,',
    'pages: { type: number,',
    [
      [
        'properties:',
        'venue-a reads the field page, which request does not have; did you mean pages? There are: category_id, limit, pages',
      ],
      [
        'pages: { type',
        'nothing reads the field pages of request; name it in input, or leave it out; what is read: page, limit, category_id',
      ],
    ],
  ],
  [
    'endpoints/tiktok/search.yaml',
    'page: { type: number, x-whole: true, minimum: 1, default: 1,',
    'page: { type: string, default: "1",',
    [['{ type: string, default: "1"', 'social reads page as number, and request takes string; write type: number']],
  ],
  [
    'endpoints/shop/search.yaml',
    'unless: { condition: { used: [amazon], refurbished: [amazon] } }',
    'unless: { condition: { used: [amazon] } }',
    [
      [
        '{ condition: { used',
        'shop-search leaves out amazon where condition is refurbished, and the price counts them; unless: { condition: { refurbished: [amazon] } }',
      ],
    ],
  ],
  [
    'endpoints/ai/x-news.yaml',
    'x_persona:',
    'persona:',
    [
      [
        'persona: {',
        'nothing reads the field persona of request; name it in input, or leave it out; what is read: x_username, x_persona',
      ],
    ],
  ],
  [
    'endpoints/tokens-api/curated.yaml',
    '  properties:\n    list:',
    '  if: { properties: { groupBy: { const: asst } }, required: [lists] }\n  then: { required: [list] }\n  properties:\n    list:',
    [
      ['asst }', 'groupBy does not take asst; did you mean asset? There are: asset, mint'],
      ['lists]', 'lists is no field of this request; did you mean list? There are: list, groupBy'],
    ],
  ],
  [
    'endpoints/image/family-e.yaml',
    'input: { prompt: prompt, aspect_ratio: aspect_ratio,',
    'input: { text: prompt,',
    [
      [
        'aspect_ratio: ',
        'nothing reads the field aspect_ratio of request; name it in input, or leave it out; what is read: prompt, referenceImage',
      ],
      [
        'input: { text',
        'replicate-predictions has to send prompt, and input does not say where it comes from; add prompt: <a field of the request>',
      ],
    ],
  ],
  [
    'endpoints/image/family-e-2.yaml',
    '{ 1k: 1K, 2k: 2K, 4k: 4K } }',
    '{ 1k: 1K, 2K: 2K, 4k: 4K } }',
    [['2K: 2K', 'request takes no 2K for resolution; did you mean 2k? There are: 1k, 2k, 4k']],
  ],
  [
    'endpoints/image/designer.yaml',
    'input: { prompt: prompt, aspect_ratio: aspect_ratio, image_input: referenceImage }',
    'input: { prompt: prompt, aspect_ratio: ratio, image_input: referenceImage }',
    [
      [
        'ratio, image_input',
        'input.aspect_ratio takes the field ratio, which what designer asks for does not have; there are: prompt, aspect_ratio, referenceImage',
      ],
    ],
  ],
  [
    'endpoints/video/family-h-2.5.yaml',
    'model: family-h-2.5',
    'model: family-e-2',
    [['family-e-2', 'family-e-2 makes image, and result says video; a model of kind video, or another result']],
  ],
  [
    'endpoints/llm/vendor1-fable-5.yaml',
    'result: tiered',
    'result: usage',
    [['result:', 'result requires tier, which its upstream does not answer; it answers: text, model, usage, metadata']],
  ],
  [
    'endpoints/credits/credits.yaml',
    'secret: { unless: api_key }',
    'secret: false',
    [
      [
        'buy-credits',
        'buy-credits answers with a secret: whoever reads the chain could ask for the answer again; add secret: true to the endpoint',
      ],
    ],
  ],
  [
    'endpoints/audio/elevenlabs-music.yaml',
    '  per: 120000\n',
    '',
    [
      [
        '"1.50"',
        'every request costs price.max: music_length_ms of 1000 costs as much; a price.per or price.amount that grows to it',
      ],
    ],
  ],
  [
    'endpoints/token/chain-b-market.yaml',
    '{ $ref: candle-bar, description: "For candlesticks: the length of a candle" }',
    '{ description: Length of a candle }',
    [['{ description: Length', 'the field bar takes anything; say its type, or name a fragment that does']],
  ],
  [
    'upstreams.yaml',
    'minimums: { music_length_ms: 5000 }',
    'minimums: { music_length: 5000 }',
    [
      [
        'music_length: 5000',
        'no endpoint of elevenlabs-music sends music_length; did you mean music_length_ms? There are: prompt, output_format, music_length_ms, force_instrumental',
      ],
    ],
  ],
  [
    'networks.yaml',
    '  # A transaction is bound to a recent blockhash.\n  authorizationLasts: 60s\n',
    '',
    [
      [
        'chain-a:',
        'chain-a does not say how long an authorization lasts: a Solana transaction is good for as long as its blockhash; add authorizationLasts: 60s',
      ],
    ],
  ],
];

t.test('what an upstream needs and does not get is reported at its place, with the cure', async (t) => {
  const directory = t.testdir();
  cpSync('catalogue', directory, { recursive: true });
  for (const [file, from, to] of unmet) {
    const text = readFileSync(join(directory, file), 'utf8');
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`);
    writeFileSync(join(directory, file), text.replace(from, to));
  }
  const { diagnostics } = checkCatalogue(directory, shipped);
  for (const [file, , , problems] of unmet) {
    const text = readFileSync(join(directory, file), 'utf8').split('\n');
    const found = diagnostics.filter(
      (diagnostic) => diagnostic.file === relative(process.cwd(), join(directory, file)),
    );
    const shown = found.map((diagnostic) => {
      const { line, column } = diagnostic;
      return [text[line - 1]?.slice(column - 1), formatDiagnostic(diagnostic).replace(/^[^:]*:\d+:\d+: /, '')];
    });
    t.same(
      shown.map(([at, message]) => [problems.find(([start]) => at?.startsWith(start))?.[0] ?? at, message]).sort(),
      [...problems].sort(),
      file,
    );
  }
});

t.test('credits are sold at no price that their amount does not say', async (t) => {
  const directory = t.testdir();
  cpSync('catalogue', directory, { recursive: true });
  const file = join(directory, 'endpoints/credits/credits.yaml');
  const text = readFileSync(file, 'utf8');
  const price = 'price: { rule: amount, by: amount_usd, min: "0.01", max: "1000" }';
  t.ok(text.includes(price));
  writeFileSync(file, text.replace(price, 'price: { rule: fixed, amount: "0.01" }'));
  const { diagnostics } = checkCatalogue(directory, shipped);
  t.match(diagnostics, [
    {
      message: 'buy-credits gives what amount_usd says, and the price does not depend on it',
      expected: 'write price: { rule: amount, by: amount_usd, min: "1", max: "1000" }',
    },
  ]);
  t.equal(diagnostics.length, 1);
});

t.test('a chain that the upstream gives no number is reported where it is named', async (t) => {
  const directory = t.testdir();
  cpSync('catalogue', directory, { recursive: true });
  const file = join(directory, 'upstreams.yaml');
  const text = readFileSync(file, 'utf8');
  const numbered = 'chains: { chain-a: "501", chain-b: "196" }';
  t.ok(text.includes(numbered));
  writeFileSync(file, text.replace(numbered, 'chains: { chain-b: "196" }'));
  const { diagnostics } = checkCatalogue(directory, shipped);
  const unnumbered = 'okx has no chain-a in settings.chains of upstreams.yaml';
  t.same(
    diagnostics.map(({ file, message }) => [file.split('endpoints/')[1], message]),
    [
      ['token/chain-a-discovery.yaml', unnumbered],
      ['token/chain-a-market.yaml', unnumbered],
      ['token/signal.yaml', unnumbered],
    ],
  );
});
