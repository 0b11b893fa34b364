import t from 'tap';
import { oil, problemsOf, replaced, writeCatalogue } from './temporary-catalogue.ts';

const FILE = 'endpoints/image/oil.yaml';
const mirrored = `${oil}mirrors:
  - network: chain-e
`;
const mpp = `${oil}mpp: { operationId: paint, tag: Pictures }
`;

t.test('a step of hundredths takes hundredths, and nothing between them', async (t) => {
  const of = (depth: string) =>
    problemsOf(
      writeCatalogue(t, {
        [FILE]: replaced(
          replaced(
            oil,
            'prompt: { $ref: prompt }',
            `prompt: { $ref: prompt }\n    depth: { type: number, multipleOf: 0.01, default: ${depth} }`,
          ),
          'text: prompt',
          'text: prompt, depth: depth',
        ),
      }),
    );
  for (const depth of ['0.07', '4.35', '19.99', '123456.78']) t.same(of(depth), [], depth);
  t.match(of('0.005'), [/the default of depth is refused by its own schema/]);
});

/** The promise, the endpoint's file, and what is reported: § stands before the place it is reported at. */
const endpointMistakes: [string, string, [string, string][]][] = [
  [
    'a value that is not of the type of its schema, which nobody could send',
    replaced(
      replaced(
        oil,
        'prompt: { $ref: prompt }',
        'prompt: { $ref: prompt }\n    year: { type: string, enum: [2024, "2025"] }',
      ),
      'text: prompt',
      'text: prompt, year: year',
    ),
    [['enum: [§2024', '2024 is of another type than its schema: nothing fits; write "2024"']],
  ],
  [
    'a default further in that its own schema refuses: callers would be told of what they did not send',
    replaced(
      replaced(
        oil,
        'prompt: { $ref: prompt }',
        'prompt: { $ref: prompt }\n    frame: { type: object, properties: { wide: { type: integer, default: thin } } }',
      ),
      'text: prompt',
      'text: prompt, frame: frame',
    ),
    [
      [
        'default: §thin',
        'the default of wide is refused by its own schema: "thin" is of the wrong type; write integer',
      ],
    ],
  ],
  [
    'a bound by another property names one that is a number',
    replaced(
      oil,
      'prompt: { $ref: prompt }',
      'prompt: { $ref: prompt }\n    least: { type: number, x-not-above: size }',
    ),
    [['x-not-above: §size', 'x-not-above names size, which is no property of type number or integer']],
  ],
  [
    'a keyword of our own has a value that means something, at any depth',
    replaced(
      oil,
      'prompt: { $ref: prompt }',
      'prompt: { $ref: prompt }\n    sizes: { type: array, items: { type: number, x-whole: false } }',
    ),
    [['x-whole: §false', 'not JSON Schema: false is not allowed; write true']],
  ],
  [
    'what is read out of words is a value of the property',
    replaced(
      oil,
      'enum: [small, large], default: small }',
      'enum: [small, large], default: small, x-read-from: { field: prompt, words: { larg: [big] } } }',
    ),
    [['words: { larg: §[big]', 'size does not take larg; did you mean large?']],
  ],
  [
    'what a network takes is said of fields that there are, and of values that they take',
    replaced(
      oil,
      'price:',
      'networks: [chain-a, chain-e]\nrequestOn: { chain-e: { required: [sise], properties: { promt: { type: string, maxLength: 9 }, size: { const: smal } } } }\nprice:',
    ),
    [
      ['required: [§sise', 'sise is no field of this request; did you mean size? There are: prompt, size'],
      ['properties: { §promt', 'promt is no field of this request; did you mean prompt? There are: prompt, size'],
      ['const: §smal', 'size does not take smal; did you mean small? There are: small, large'],
    ],
  ],
  [
    'a field that no query can hold is refused where the request is a query: nobody could ask for it',
    replaced(
      replaced(
        oil,
        'prompt: { $ref: prompt }',
        'prompt: { $ref: prompt }\n    frame: { type: object, properties: { wide: { type: integer } } }\n    marks: { type: array, items: { type: array, items: { type: number } } }\n    seeds: { type: array, items: { type: integer } }',
      ),
      'text: prompt',
      'text: prompt, frame: frame, marks: marks, seeds: seeds',
    ).replace('path:', 'method: GET\npath:'),
    [
      [
        'frame: §{ type: object',
        'a query takes texts, numbers, booleans and lists of them, and frame may be an object; leave method: GET out, or give it another type',
      ],
      [
        'marks: §{ type: array',
        'a query takes texts, numbers, booleans and lists of them, and marks may hold a list; leave method: GET out, or give it another type',
      ],
    ],
  ],
  [
    'a flag stands beside the members of a result, which has to have some',
    replaced(oil, 'result: { $ref: picture }', 'envelope: flag\nresult: { type: array, examples: [[1]] }'),
    [
      [
        'envelope: §flag',
        'a flag stands beside the members of a result, and result is no object; write data, or type: object',
      ],
    ],
  ],
  [
    'a mirror with a flag has a result with members, also where only one of the two is its own',
    `${replaced(oil, 'result: { $ref: picture }', 'result: { type: string, examples: [fog] }')}mirrors:\n  - network: chain-e\n    envelope: flag\n`,
    [
      [
        '    envelope: §flag',
        'a flag stands beside the members of a result, and result is no object; write data, or type: object',
      ],
    ],
  ],
  [
    'a mirror whose own result has no members has no flag either',
    `${replaced(oil, 'path:', 'envelope: flag\npath:')}mirrors:\n  - network: chain-e\n    result: { type: string, examples: [fog] }\n`,
    [
      [
        '    §result: { type: string',
        'a flag stands beside the members of a result, and mirrors[0].result is no object; write data, or type: object',
      ],
    ],
  ],
  [
    'a secret that depends on a field names one that a request may leave out',
    replaced(oil, 'path:', 'secret: { unless: prompt }\npath:'),
    [['secret: { unless: §prompt', 'secret.unless names prompt, which every request has; there are: size']],
  ],
  [
    'a secret does not depend on a field that is not there',
    replaced(oil, 'path:', 'secret: { unless: sise }\npath:'),
    [['secret: { unless: §sise', 'secret.unless names sise, which is no field of the request; did you mean size?']],
  ],
  [
    'broken YAML is reported with its place',
    replaced(oil, 'summary: A picture in oil', 'summary: "A picture in oil'),
    [['picture in oil§', 'not YAML: Missing closing "quote']],
  ],
  [
    'an alias of an anchor that is not there is reported with its place',
    replaced(oil, 'via: pictures', 'via: *pictures'),
    [['via: §*pictures', 'there is no anchor &pictures above; write the name without *']],
  ],
  [
    'a duplicate key is reported at the second one',
    `${oil}path: /image/other\n`,
    [['§path: /image/other', 'the key path is there twice; keep one of the two']],
  ],
  [
    'an unknown key comes with the nearest known one',
    replaced(oil, 'summary:', 'sumary:'),
    [
      ['§sumary: A pi', 'the key summary is missing; add summary'],
      ['§sumary: A pi', 'unknown key sumary; did you mean summary? The nearest of 20: summary, path, secret'],
    ],
  ],
  [
    'an unknown key of a price comes with the nearest known one',
    replaced(
      oil,
      '{ rule: select, by: size, amounts: { small: "0.05", large: "0.1" } }',
      '{ rule: fixed, amout: "0.05" }',
    ),
    [
      ['§price: { rul', 'the key amount is missing; add amount'],
      ['rule: fixed, §amout: "0.05', 'unknown key amout; did you mean amount? There are: rule, amount'],
    ],
  ],
  [
    'an unquoted amount is reported with the text that would be right',
    replaced(oil, 'large: "0.1"', 'large: 0.10'),
    [['0.05", large: §0.10 } }', '0.10 is not quoted; write "0.10"']],
  ],
  [
    'an amount finer than a millionth is refused',
    replaced(oil, '"0.1"', '"0.0000001"'),
    [
      [
        '0.05", large: §"0.0000001"',
        '"0.0000001" has 7 decimals; a decimal string such as "0.05", with at most 6 decimals',
      ],
    ],
  ],
  [
    'unquoted listing amounts are reported',
    `${oil}listing: { price: 0.1, minPrice: "0.05" }\n`,
    [['ing: { price: §0.1, minPric', '0.1 is not quoted; write "0.1"']],
  ],
  [
    'a minPrice above the price is reported',
    `${oil}listing: { price: "0.05", minPrice: "0.1" }\n`,
    [['5", minPrice: §"0.1" }', 'minPrice is above price; write at most "0.05"']],
  ],
  [
    'an unknown pricing rule comes with those there are',
    replaced(oil, 'rule: select', 'rule: selct'),
    [
      [
        'rice: { rule: §selct, by: s',
        'no pricing rule selct; did you mean select? There are: fixed, select, per-unit, per-item, tiered-tokens, usage-tokens, per-model, amount',
      ],
    ],
  ],
  [
    'an unknown upstream comes with those there are',
    replaced(oil, 'via: pictures', 'via: picturs'),
    [['via: §picturs', 'no upstream picturs; did you mean pictures? There are: pictures, market']],
  ],
  [
    'an unknown model comes with those there are',
    replaced(oil, 'model: oil', 'model: oill'),
    [['model: §oill', 'the upstream pictures has no model oill; did you mean oil? There are: oil']],
  ],
  [
    'an option that the adapter does not have is reported',
    replaced(oil, '  model: oil', '  model: oil\n  stepps: 3'),
    [['§stepps: 3', 'unknown key stepps; did you mean steps? There are: via, model, input, steps']],
  ],
  [
    'a mapping from a field that the request does not have is reported',
    replaced(oil, 'text: prompt', 'text: promt'),
    [
      [
        'nput: { text: §promt, forma',
        'input.text takes the field promt, which request does not have; did you mean prompt? There are: prompt, size',
      ],
    ],
  ],
  [
    'a nested mapping from a field that the request does not have is reported',
    replaced(oil, 'from: size', 'from: siz'),
    [
      [
        'rmat: { from: §siz } }',
        'input.format takes the field siz, which request does not have; did you mean size? There are: prompt, size',
      ],
    ],
  ],
  [
    'an upstream with neither via nor recipe is reported',
    replaced(oil, '  via: pictures\n', ''),
    [['§upstream:', 'upstream names neither via nor recipe; name the upstream with via, or a recipe']],
  ],
  [
    'an unknown recipe comes with those there are',
    `${oil.slice(0, oil.indexOf('upstream:'))}upstream: { recipe: scaner }\n`,
    [['am: { recipe: §scaner }', 'no recipe scaner; did you mean scanner? There are: scanner']],
  ],
  [
    'missing and unknown roles of a recipe are reported',
    `${oil.slice(0, oil.indexOf('upstream:'))}upstream:
  recipe: scanner
  uses:
    price: { via: market }
    painter: { via: market }
`,
    [
      ['§uses:', 'the recipe scanner needs the role prices; name an upstream with the adapter prices'],
      ['§price: { via', 'the recipe scanner has no role price; did you mean prices? There are: prices, painter'],
      [
        'inter: { via: §market }',
        'market speaks prices, which cannot play the role painter; name an upstream with the adapter painter',
      ],
    ],
  ],
  [
    'an unknown network comes with those there are',
    `${oil}networks: [chain-a, chain-q]\n`,
    [['ks: [chain-a, §chain-q]', 'no network chain-q; did you mean chain-a? There are: chain-a, chain-e']],
  ],
  [
    'a mirror on an unknown network is reported',
    replaced(mirrored, 'network: chain-e', 'network: chain-x'),
    [['- network: §chain-x', 'no network chain-x; did you mean chain-a? There are: chain-a, chain-e']],
  ],
  [
    'a mirror on a network without a prefix is reported',
    replaced(mirrored, 'network: chain-e', 'network: chain-a'),
    [
      [
        '- network: §chain-a',
        'the network chain-a has no prefix; give it a prefix in networks.yaml, or the mirror a path',
      ],
    ],
  ],
  [
    'an unknown MPP tag comes with those there are',
    replaced(mpp, 'tag: Pictures', 'tag: Picture'),
    [[': paint, tag: §Picture }', 'no tag Picture; did you mean Pictures? There are: Pictures, Prices']],
  ],
  [
    'an MPP path outside /mpp/ is reported',
    replaced(mpp, 'tag: Pictures', 'tag: Pictures, path: /pay/oil'),
    [['ctures, path: §/pay/oil }', '/pay/oil does not begin with /mpp/; begin the path with /mpp/']],
  ],
  [
    'an unknown fragment comes with those there are',
    replaced(oil, '$ref: prompt', '$ref: promt'),
    [['ompt: { $ref: §promt }', 'no fragment promt; did you mean prompt? There are: picture, prompt']],
  ],
  [
    'a path with capitals or a bar is refused',
    replaced(oil, '/image/oil', '/Image|oil'),
    [
      [
        'path: §/Image|oil',
        '"/Image|oil" does not fit; a path starts with / and has lower-case letters, digits, ".", "_" and "-" between its slashes',
      ],
    ],
  ],
  [
    'an example that its request refuses is reported with the field',
    replaced(oil, 'example: { prompt: fog }', 'example: { prompt: fog, size: huge }'),
    [
      [
        't: fog, size: §huge }',
        'the example does not fit request, size: "huge" is not allowed; there are: small, large',
      ],
    ],
  ],
  [
    'an example with a field that the request does not have is reported',
    replaced(oil, 'example: { prompt: fog }', 'example: { prompt: fog, sise: small }'),
    [
      [
        'prompt: fog, §sise: small',
        'the example does not fit request, sise: unknown key sise; did you mean size? There are: prompt, size',
      ],
    ],
  ],
  [
    'an example that lacks a field is reported',
    replaced(oil, 'example: { prompt: fog }', 'example: {}'),
    [['§example: {}', 'the example does not fit request: the key prompt is missing; add prompt']],
  ],
  [
    'a result without an example is reported',
    replaced(oil, 'result: { $ref: picture }', 'result: { properties: { url: { type: string } } }'),
    [['§result: { pr', 'result has no example; add examples: [...] to it or to its fragment']],
  ],
  [
    'a result example that its schema refuses is reported',
    replaced(oil, 'result: { $ref: picture }', 'result: { $ref: picture, examples: [{ url: 5 }] }'),
    [
      [
        'ples: [{ url: §5 }] }',
        'the example of result does not fit its schema, url: 5 is of the wrong type; write string',
      ],
    ],
  ],
  [
    'a keyword that JSON Schema does not have is reported',
    replaced(oil, 'default: small', 'defalt: small'),
    [
      [
        ': select, by: §size, amount',
        'price.by names size, which is neither required nor has a default; size in request.required, or request.properties.size.default',
      ],
      ['mall, large], §defalt: smal', 'defalt is no JSON Schema keyword; did you mean default?'],
    ],
  ],
  [
    'an unknown format is reported',
    replaced(oil, '{ $ref: prompt }', '{ type: string, format: emial }'),
    [['ring, format: §emial }', 'no format emial; did you mean email?']],
  ],
  [
    'a keyword with a value that JSON Schema does not allow is reported',
    replaced(oil, '{ $ref: prompt }', '{ type: string, minLength: "1" }'),
    [['g, minLength: §"1" }', 'not JSON Schema: "1" is of the wrong type; write integer']],
  ],
  [
    'a keyword that does not go with the type is reported',
    replaced(oil, '{ $ref: prompt }', '{ type: string, minimum: 1 }'),
    [['§{ type: string, minimum', 'not JSON Schema: missing type "number" for keyword "minimum"']],
  ],
  [
    'a default that its own property refuses is reported',
    replaced(oil, 'default: small', 'default: tiny'),
    [
      [
        'ge], default: §tiny }',
        'the default of size is refused by its own schema: "tiny" is not allowed; there are: small, large',
      ],
    ],
  ],
  [
    'a required field that is no property is reported',
    replaced(oil, 'required: [prompt]', 'required: [promt]'),
    [
      [
        'required: [§promt]',
        'required names promt, which is no property; did you mean prompt? There are: prompt, size',
      ],
    ],
  ],
  [
    'a request that opens itself is reported',
    replaced(oil, '  required: [prompt]', '  required: [prompt]\n  additionalProperties: true'),
    [['§additionalPr', 'a request is always an object without further fields; leave additionalProperties out']],
  ],
  [
    'an invalid duration is reported',
    `${oil}deadline: 10 minutes\n`,
    [['deadline: §10 minutes', '"10 minutes" does not fit; write a duration such as 300ms, 30s or 10m']],
  ],
  [
    'a deadline without its unit is reported with the text that would be right',
    `${oil}deadline: 30\n`,
    [['deadline: §30', '30 is of the wrong type; write "30s"']],
  ],
  [
    'a deadline out of bounds is refused',
    `${oil}deadline: 300ms\n`,
    [['deadline: §300ms', 'a deadline of 300ms is out of bounds; write 1s to 30m']],
  ],
  [
    'a deadline by a field has a duration for each of its values, and for nothing else',
    `${oil}deadline: { by: size, values: { small: 30s, huge: 300ms } }\n`,
    [
      ['values: §{ small: 30s, huge', 'there is none for large; write a duration for each value of size'],
      ['huge: §300ms', 'a deadline of 300ms is out of bounds; write 1s to 30m'],
      ['huge: §300ms', 'size does not take huge; there are: small, large'],
    ],
  ],
  [
    'a deadline by what is no choice is refused',
    `${oil}deadline: { by: prompt, values: { small: 30s } }\n`,
    [['by: §prompt', 'deadline.by names prompt, which is no field with an enum; there are: size']],
  ],
  [
    "an operation's deadline out of bounds is refused at its own place",
    replaced(mpp, 'tag: Pictures', 'tag: Pictures, deadline: 2h'),
    [['deadline: §2h', 'a deadline of 2h is out of bounds; write 1s to 30m']],
  ],
  [
    'a type that there is not comes with those there are, once',
    replaced(oil, '{ $ref: prompt }', '{ type: sting }'),
    [
      [
        'ompt: { type: §sting }',
        'not JSON Schema: "sting" is not allowed; did you mean string? There are: array, boolean, integer, null, number, object, string',
      ],
    ],
  ],
  [
    'a type that there is not is no reason to write values of it, and is told beside whatever else is wrong',
    replaced(
      replaced(oil, 'size: { type: string', 'size: { type: sting'),
      '{ $ref: prompt }',
      '{ type: string, format: ulr }',
    ),
    [
      ['format: §ulr', 'no format ulr; did you mean url? The nearest of 29: url, uri, uuid'],
      [
        'size: { type: §sting',
        'not JSON Schema: "sting" is not allowed; did you mean string? There are: array, boolean, integer, null, number, object, string',
      ],
    ],
  ],
  [
    'a fragment that there is not is all that is wrong with a field, also where mirrors and operations take it over',
    `${replaced(oil, '{ $ref: prompt }', '{ $ref: promt }')}mirrors: [{ network: chain-e }]\nmpp: { operationId: paint, tag: Pictures }\n`,
    [['ompt: { $ref: §promt }', 'no fragment promt; did you mean prompt? There are: picture, prompt']],
  ],
  [
    'so is one in a list of types',
    replaced(oil, '{ $ref: prompt }', '{ type: [string, nul] }'),
    [
      [
        'type: [string, §nul]',
        'not JSON Schema: "nul" is not allowed; did you mean null? There are: array, boolean, integer, null, number, object, string',
      ],
    ],
  ],
  [
    'a pattern that is none is reported at its own place',
    replaced(oil, '{ $ref: prompt }', '{ type: string, pattern: "^(a+$" }'),
    [['pattern: §"^(a+$"', 'not a regular expression: Unterminated group; write one that JavaScript takes']],
  ],
  [
    'a pattern that backtracks without end is refused at its own place',
    replaced(oil, '{ $ref: prompt }', '{ type: string, pattern: "^(a|aa)+$" }'),
    [
      [
        'pattern: §"^(a|aa)+$"',
        'the pattern backtracks catastrophically: the time for a text grows with its length exponentially; write it so that no text can be matched in two ways',
      ],
    ],
  ],
  [
    'so is one whose time grows with the square of the length',
    replaced(oil, '{ $ref: prompt }', '{ type: string, pattern: "^[0-9]*[0-9]*$" }'),
    [
      [
        'pattern: §"^[0-9]*[0-9]*$"',
        'the pattern backtracks catastrophically: the time for a text grows with its length to the power of 2',
      ],
    ],
  ],
  [
    "a mirror's price without a rule is reported with the text that would be right",
    `${mirrored}    price: "0.05"\n`,
    [
      [
        'price: §"0.05"\n',
        '"0.05" is of the wrong type; write a rule with its options, such as { rule: fixed, amount: "0.05" }',
      ],
    ],
  ],
  ['an empty file is called that', '# nothing yet\n', [['§# nothing', 'the file is empty; write it, or remove it']]],
  [
    'a summary that facilitators refuse is too long',
    replaced(oil, 'summary: A picture in oil', `summary: ${'oil '.repeat(126)}`),
    [['summary: §oil oil', '"oil']],
  ],
  [
    'a price that may be 0 is refused',
    replaced(oil, 'small: "0.05"', 'small: "0"'),
    [
      [
        'price: §{ rule',
        'the price may be 0; raise it, or add free: true to the endpoint if it is meant to be given away',
      ],
    ],
  ],
  ['unless the endpoint says that it is given away', `${replaced(oil, 'small: "0.05"', 'small: "0"')}free: true\n`, []],
  ...[
    '/healthz',
    '/readyz/x',
    '/metrics',
    '/mcp',
    '/llms.txt',
    '/openapi.json',
    '/v1/oil',
    '/v1/credits',
    '/sandbox/oil',
    '/media/oil',
  ].map((path): [string, string, [string, string][]] => [
    `the gateway's own path ${path} is not sold`,
    replaced(oil, '/image/oil', path),
    [[`path: §${path}`, `the path ${path} belongs to the gateway itself; choose another path`]],
  ]),
  [
    'nothing is sold below the prefix of a rail or of a network but what belongs there',
    `${replaced(oil, '/image/oil', '/chain-e/oil')}mirrors: [{ network: chain-e, path: /mpp/oil }]\n`,
    [
      ['path: §/chain-e/oil', 'the path /chain-e/oil belongs to the mirrors on chain-e; choose another path'],
      ['path: §/mpp/oil', 'the path /mpp/oil belongs to operations over MPP; choose another path'],
    ],
  ],
  [
    'a mirror whose request refuses the example is asked for its own',
    `${mirrored}    request: { required: [prompt, seed], properties: { prompt: { $ref: prompt }, seed: { type: integer }, size: { type: string, enum: [small, large], default: small } } }\n`,
    [
      [
        '§request: { r',
        'the example does not fit mirrors[0].request: the key seed is missing; give mirrors[0] its own example',
      ],
    ],
  ],
  [
    'a mirror whose request does not fit the inherited price and upstream is to blame',
    `${mirrored}    request: { required: [prompt], properties: { prompt: { $ref: prompt } } }\n`,
    [
      ['§request: { r', 'input.format takes the field size, which mirrors[0].request does not have; there are: prompt'],
      ['§request: { r', 'price.by names size, which request.properties does not have; one of: prompt'],
    ],
  ],
];

/** The place in the text that § marks in the excerpt. */
function marked(text: string, excerpt: string): string {
  const [before = '', after = ''] = excerpt.split('§');
  const offset = text.indexOf(before + after) + before.length;
  const lines = text.slice(0, offset).split('\n');
  return `${lines.length}:${(lines.at(-1) ?? '').length + 1}`;
}

for (const [promise, text, expected] of endpointMistakes) {
  t.test(promise, async (t) => {
    const problems = problemsOf(writeCatalogue(t, { [FILE]: text }));
    const wanted = expected.map(([excerpt, message]) => `${FILE}:${marked(text, excerpt)}: ${message}`);
    const isReported = (line: string) => problems.some((problem) => problem.startsWith(line));
    t.ok(wanted.every(isReported), 'where and what', { wanted, problems });
    t.equal(problems.length, wanted.length, 'and nothing else', { wanted, problems });
  });
}
