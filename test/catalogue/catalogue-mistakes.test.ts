import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { checkCatalogue } from '../../src/catalogue/load.ts';
import { oil, parts, problemsOf, replaced, rightFiles, writeCatalogue } from './temporary-catalogue.ts';

const FILE = 'endpoints/image/oil.yaml';
const mirrored = `${oil}mirrors: [{ network: chain-e }]
`;
const mpp = `${oil}mpp: { operationId: paint, tag: Pictures }
`;

t.test('a price table is held to the values that the request allows', async (t) => {
  const missing = problemsOf(writeCatalogue(t, { [FILE]: replaced(oil, ', large: "0.1"', '') }));
  t.match(missing, [/^endpoints\/image\/oil\.yaml:3:\d+: .*large/]);
  const needless = problemsOf(writeCatalogue(t, { [FILE]: replaced(oil, 'large: "0.1"', 'large: "0.1", huge: "1"') }));
  t.match(needless, [/^endpoints\/image\/oil\.yaml:3:\d+: .*huge/]);
  const optional = problemsOf(writeCatalogue(t, { [FILE]: replaced(oil, ', default: small', '') }));
  t.match(optional, [/^endpoints\/image\/oil\.yaml:3:\d+: .*size/]);
});

t.test('the same path in two files names the other file', async (t) => {
  const problems = problemsOf(writeCatalogue(t, { 'endpoints/image/water.yaml': oil }));
  t.same(problems, [
    'endpoints/image/water.yaml:2:7: the path /image/oil is taken by endpoints/image/oil.yaml:2; give one of them another path',
  ]);
});

t.test('a mirror on a path that another file has names that file', async (t) => {
  const other = `${replaced(oil, '/image/oil', '/image/water')}mirrors: [{ network: chain-e, path: /chain-e/image/oil }]\n`;
  const problems = problemsOf(writeCatalogue(t, { [FILE]: mirrored, 'endpoints/image/water.yaml': other }));
  t.same(problems, [
    'endpoints/image/water.yaml:15:37: the path /chain-e/image/oil is taken by endpoints/image/oil.yaml:15; give one of them another path',
  ]);
});

t.test('nothing is kept shorter than what needs it', async (t) => {
  const kept = (keep: string) =>
    problemsOf(writeCatalogue(t, { 'service.yaml': `${rightFiles['service.yaml']}keep: ${keep}\n` }));
  t.same(kept('{ answers: 60d, payments: 60d, media: forever }'), []);
  t.match(kept('{ answers: 60d, media: 30d }'), [/^service\.yaml:\d+:\d+: files would be gone .*; give 60d or more/]);
  t.match(kept('{ answers: 1d, payments: 7d }'), [/shown again; give 30d or more, or forever/]);
  t.match(kept('{ answers: forever }'), [/"forever" does not fit; write days/]);
});

t.test('a directory that is not there is one problem', async (t) => {
  const directory = t.testdir({});
  t.same(problemsOf(directory), [
    `${join(directory, 'catalogue')}:1:1: there is no such directory; TURNPIKE_CATALOGUE says where the catalogue is`,
  ]);
});

t.test('what an editor or a system leaves beside a file is no endpoint', async (t) => {
  const directory = writeCatalogue(t, { 'endpoints/image/._oil.yaml': '\u0000\u0005' });
  symlinkSync('somebody@somewhere.1', join(directory, 'catalogue/endpoints/image/.#oil.yaml'));
  symlinkSync('somebody@somewhere.1', join(directory, 'catalogue/.#service.yaml'));
  t.same(problemsOf(directory), []);
});

t.test('a secret in place of its variable is not repeated', async (t) => {
  const upstreams = rightFiles['upstreams.yaml'] as string;
  const problems = problemsOf(
    writeCatalogue(t, { 'upstreams.yaml': replaced(upstreams, 'key: PAINTER_KEY', 'key: sk-live-4242') }),
  );
  t.match(problems, [/what is written here does not fit; write the name of an environment variable/]);
  t.notMatch(problems.join(), '4242');
});

t.test('colours that cannot be read are refused, with what can', async (t) => {
  const service = rightFiles['service.yaml'] as string;
  const told = (brand: string) => problemsOf(writeCatalogue(t, { 'service.yaml': `${service}brand: ${brand}\n` }));
  t.same(told('{ accent: "#7a1f5c", accentOnDark: "#f0a6d4" }'), []);
  t.same(told('{ accent: "#f0a6d4", accentOnDark: "#f0a6d4" }'), [
    'service.yaml:6:18: #f0a6d4 is hard to read on a light page: its contrast is 1.8; take a darker one, with a contrast of 4.5 at least',
  ]);
  t.same(told('{ accent: "#7a1f5c" }'), [
    'service.yaml:6:18: #7a1f5c is hard to read on a dark page: its contrast is 1.7; add accentOnDark, a lighter one for dark pages',
  ]);
  t.same(told('{ accent: plum }'), [
    'service.yaml:6:18: "plum" does not fit; write # and six hexadecimal digits in small letters, in quotes, such as "#17509c"',
  ]);
});

t.test('what has a form of its own is told by that form where it does not fit', async (t) => {
  const service = rightFiles['service.yaml'] as string;
  const told = (line: string) => problemsOf(writeCatalogue(t, { 'service.yaml': `${service}${line}\n` }));
  for (const [line, expected] of [
    ['keep: { answers: forever }', 'write days, such as 90d'],
    ['keep: { payments: 3 years }', 'write days, such as 90d, or forever'],
    ['license: { name: Terms, url: "http://shop.example" }', 'write an https URL'],
    [
      'security: { contact: ["https:x", "http://a.example"] }',
      'write an address as mailto:..., https://... or tel:...',
    ],
    ['alerts: { webhooks: [{ url: "ftp://ops.example" }] }', 'write an https URL'],
  ] as const) {
    t.match(
      told(line),
      [new RegExp(`^service\\.yaml:6:\\d+: .* does not fit; ${expected.replaceAll('.', '\\.')}$`)],
      line,
    );
  }
});

t.test(
  'a margin is watched over no more sales than are remembered: over more, nobody would ever be told',
  async (t) => {
    const service = rightFiles['service.yaml'] as string;
    const told = (count: string) =>
      problemsOf(
        writeCatalogue(t, {
          'service.yaml': `${service}alerts: { webhooks: [{ url: "https://ops.example" }], marginOver: ${count} }\n`,
        }),
      );
    t.same(told('10000'), []);
    t.match(told('10001'), [/^service\.yaml:6:\d+: .*10000/]);
  },
);

t.test('a webhook asks for no event whose threshold is not said: it would never be told of it', async (t) => {
  const service = rightFiles['service.yaml'] as string;
  const told = (more: string) => {
    const webhooks =
      '[{ url: "https://ops.example" }, { url: "https://b.example", events: [result.owed, spend.daily] }]';
    return problemsOf(writeCatalogue(t, { 'service.yaml': `${service}alerts: { webhooks: ${webhooks}${more} }\n` }));
  };
  t.same(told(', spendAbove: "100"'), []);
  t.match(told(', creditBelow: "1"'), [
    /^service\.yaml:6:104: spend\.daily is never told: alerts has no spendAbove; add spendAbove to alerts, or leave it out$/,
  ]);
});

t.test('a page that is to use /mcp is a host name as browsers tell it: another would let nobody in', async (t) => {
  const service = rightFiles['service.yaml'] as string;
  const told = (origins: string) =>
    problemsOf(writeCatalogue(t, { 'service.yaml': `${service}mcp: { origins: [${origins}] }\n` }));
  t.same(told('inspector.example, xn--mnchen-3ya.example, a_b.example, "[::1]", "*"'), []);
  for (const wrong of [
    'https://a.example',
    'a.example:80',
    'a.example/',
    'A.example',
    '*.example',
    'münchen.example',
  ]) {
    t.same(told(`"${wrong}"`), [
      `service.yaml:6:18: "${wrong}" does not fit; write a host name alone, in small letters, such as inspector.example, or "*" for all`,
    ]);
  }
});

t.test('what indexes of paid endpoints would not take is refused, with what they take', async (t) => {
  const service = rightFiles['service.yaml'] as string;
  const told = (line: string) => problemsOf(writeCatalogue(t, { 'service.yaml': `${service}${line}\n` }));
  t.same(told("shortName: Shop & Sons\nicon: 'https://shop.example/icon.png'\nkeywords: [a, b, c, d]"), []);
  const printable = 'write 1 to 32 printable ASCII characters, with no space at either end';
  const long = 'A shop that sells pictures in oil';
  t.same(told(`shortName: ${long}`), [`service.yaml:6:12: "${long}" does not fit; ${printable}`]);
  t.same(told('shortName: Café'), [`service.yaml:6:12: "Café" does not fit; ${printable}`]);
  t.same(told('keywords: [oil, Öl]'), [`service.yaml:6:17: "Öl" does not fit; ${printable}`]);
  t.same(told('icon: http://shop.example/icon.png'), [
    'service.yaml:6:7: "http://shop.example/icon.png" does not fit; write an https URL of at most 200 characters',
  ]);
  t.match(told('keywords: [a, b, c, d, e]'), [
    /^service\.yaml:6:\d+: keywords must NOT have more .*; write at most four/,
  ]);
  const wordy = replaced(oil, 'A picture in oil', 'x'.repeat(501));
  t.match(problemsOf(writeCatalogue(t, { [FILE]: wordy })), [
    /^endpoints\/image\/oil\.yaml:1:10: .*more than 500 characters; write at most 500 characters/,
  ]);
  t.same(problemsOf(writeCatalogue(t, { [FILE]: null, 'endpoints/öl/oil.yaml': oil })), [
    'endpoints/öl/oil.yaml:1:1: the group öl is a tag in indexes of paid endpoints; name the folder with 1 to 32 printable ASCII characters',
  ]);
});

t.test('what buyers shall run is the name of a package, and nothing that a shell or npm takes for more', async (t) => {
  const service = rightFiles['service.yaml'] as string;
  const told = (name: string) =>
    problemsOf(writeCatalogue(t, { 'service.yaml': `${service}clientPackage: ${JSON.stringify(name)}\n` }));
  for (const name of ['turnpike', '@acme/turnpike', '@a-b/c.d_e', 'x'.repeat(214)]) t.same(told(name), [], name);
  const commands = '-g --yes . ../shop @acme acme/turnpike @acme/a/b a;id $(id) A a@latest npm:a https://a.example/a';
  for (const name of [...commands.split(' '), '', 'a b', 'a\nb', 'x'.repeat(215)]) {
    const fault = /^service\.yaml:6:\d+: .*; write the name of an npm package, such as "@acme\/turnpike"/;
    t.match(told(name), [fault], name);
  }
});

t.test('a name that indexes do not take is cut to what they take', async (t) => {
  const nameOf = (name: string) => {
    const service = replaced(rightFiles['service.yaml'] as string, 'Shop', name);
    const directory = writeCatalogue(t, { 'service.yaml': service });
    return checkCatalogue(join(directory, 'catalogue'), parts).catalogue?.endpoints[0]?.listing.serviceName;
  };
  t.equal(nameOf('Shop'), 'Shop');
  t.equal(nameOf('Café'), 'Cafe');
  t.equal(nameOf('A shop that sells pictures in oil'), 'A shop that sells pictures in oi');
  t.equal(nameOf('画廊'), undefined);
});

t.test('a mirror is not known by the name of another endpoint', async (t) => {
  const own = replaced(oil, '/image/oil', '/image/ink');
  const other = `${replaced(oil, '/image/oil', '/image/water')}mirrors: [{ network: chain-e, path: /chain-e/oil }]\n`;
  const problems = problemsOf(writeCatalogue(t, { 'endpoints/chain-e/oil.yaml': own, [FILE]: other }));
  t.same(problems, [
    'endpoints/image/oil.yaml:15:37: the name chain-e/oil is taken by endpoints/chain-e/oil.yaml:2; give one of them another name',
  ]);
});

t.test('an MPP operation id belongs to one endpoint', async (t) => {
  const other = replaced(mpp, '/image/oil', '/image/water');
  const problems = problemsOf(writeCatalogue(t, { [FILE]: mpp, 'endpoints/image/water.yaml': other }));
  t.same(problems, [
    'endpoints/image/water.yaml:15:21: the operationId paint is taken by endpoints/image/oil.yaml:15; give one of them another operationId',
  ]);
});

t.test('files in the wrong place or with the wrong ending are reported', async (t) => {
  const other = replaced(oil, '/image/oil', '/image/water');
  const problems = problemsOf(writeCatalogue(t, { 'endpoints/water.yml': other }));
  t.same(problems, [
    'endpoints/water.yml:1:1: the name ends in .yml; rename the file to end in .yaml',
    'endpoints/water.yml:1:1: the file is not in a group; an endpoint is endpoints/<group>/<name>.yaml',
  ]);
});

t.test('a catalogue without its three files says which', async (t) => {
  const problems = problemsOf(
    writeCatalogue(t, { 'service.yaml': null, 'networks.yaml': null, 'upstreams.yaml': null }),
  );
  t.same(
    problems.map((problem) => problem.split(';')[0]),
    ['networks', 'service', 'upstreams'].map((name) => `${name}.yaml:1:1: there is no such file`),
  );
});

t.test('fragments that contain each other are reported', async (t) => {
  const problems = problemsOf(
    writeCatalogue(t, {
      'schemas/egg.yaml': 'type: object\nproperties: { hen: { $ref: hen } }\n',
      'schemas/hen.yaml': 'type: object\nproperties: { egg: { $ref: egg } }\n',
    }),
  );
  t.same(problems, [
    'schemas/egg.yaml:2:28: the fragment egg contains itself: egg -> hen -> egg',
    'schemas/hen.yaml:2:28: the fragment hen contains itself: hen -> egg -> hen',
  ]);
});

t.test('a mistake in a fragment is reported once, in the fragment', async (t) => {
  const other = replaced(oil, '/image/oil', '/image/water');
  const problems = problemsOf(
    writeCatalogue(t, { 'schemas/prompt.yaml': 'type: string\nminLenth: 1\n', 'endpoints/image/water.yaml': other }),
  );
  t.same(problems, ['schemas/prompt.yaml:2:1: minLenth is no JSON Schema keyword; did you mean minLength?']);
});

t.test('an example or default that its fragment refuses is reported', async (t) => {
  const problems = problemsOf(
    writeCatalogue(t, { 'schemas/count.yaml': 'type: integer\nmaximum: 5\ndefault: 9\nexamples: [1, 7]\n' }),
  );
  t.same(problems, [
    'schemas/count.yaml:3:10: the default does not fit the schema: 9 must be <= 5',
    'schemas/count.yaml:4:15: the example does not fit the schema: 7 must be <= 5',
  ]);
});

t.test('upstreams are held to their adapters', async (t) => {
  const upstreams = `pictures:
  adapter: paintr
  baseUrl: https://painter.example/v1/
water:
  adapter: painter
  baseUrl: https://painter.example/v1
  keys: { kye: PAINTER_KEY }
  spacing: soon
  settings: { waitSecond: 3 }
  models:
    oil: { id: maker/oil, kind: sculpture, cost: { input: 1, output: "2" } }
`;
  const problems = problemsOf(writeCatalogue(t, { 'upstreams.yaml': upstreams }));
  const lines = [
    'upstreams.yaml:2:12: no adapter paintr; did you mean painter?',
    'upstreams.yaml:3:12: "https://painter.example/v1/" does not fit; write an https URL without a / at its end',
    'upstreams.yaml:4:1: the adapter painter needs the secret key; add keys: { key: NAME_OF_AN_ENVIRONMENT_VARIABLE }',
    'upstreams.yaml:7:11: painter has no secret kye; did you mean key?',
    'upstreams.yaml:8:12: "soon" does not fit; write a duration',
    'upstreams.yaml:9:15: unknown key waitSecond; did you mean waitSeconds?',
    'upstreams.yaml:11:33: "sculpture" is not allowed; there are: image, video',
    'upstreams.yaml:11:59: 1 is not quoted; write "1"',
  ];
  for (const line of lines)
    t.ok(
      problems.some((problem) => problem.startsWith(line)),
      line,
      { problems },
    );
});

const service = rightFiles['service.yaml'] as string;

for (const [promise, text, expected] of [
  [
    'the default network must exist',
    replaced(service, 'chain-a', 'chain-b'),
    'service.yaml:5:17: no network chain-b; did you mean chain-a? There are: chain-a, chain-e',
  ],
  [
    'a default network must be there',
    replaced(service, 'defaultNetwork: chain-a\n', ''),
    'service.yaml:1:1: the key defaultNetwork is missing; add defaultNetwork',
  ],
  [
    'a rail that there is not has no options',
    `${service}rails:\n  mmp: { networks: [chain-e] }\n`,
    'service.yaml:7:3: unknown key mmp; did you mean mpp? There are: mpp',
  ],
  [
    'an option that the rail does not have is reported',
    `${service}rails:\n  mpp: { network: [chain-e] }\n`,
    'service.yaml:7:10: unknown key network; did you mean networks? There are: networks',
  ],
  [
    'a rail is paid on networks that there are',
    `${service}rails:\n  mpp: { networks: [chain-e, chain-c] }\n`,
    'service.yaml:7:30: no EVM network chain-c; did you mean chain-e? There are: chain-e',
  ],
  [
    'MPP is not paid by EIP-3009 on a network of another family',
    `${service}rails:\n  mpp: { networks: [chain-a] }\n`,
    'service.yaml:7:21: no EVM network chain-a; did you mean chain-e? There are: chain-e',
  ],
] as const) {
  t.test(promise, async (t) => {
    t.same(problemsOf(writeCatalogue(t, { 'service.yaml': text })), [expected]);
  });
}

t.test('nothing is sold for more than the service says that anything may cost', async (t) => {
  const problems = problemsOf(writeCatalogue(t, { 'service.yaml': `${service}highestPrice: "0.06"\n` }));
  t.same(problems, [
    'endpoints/image/oil.yaml:3:8: the price may be 0.1, more than anything may cost; lower it, or raise highestPrice in service.yaml, which is "0.06"',
  ]);
});

t.test('the keys of an upstream are names by secret: a name alone is reported once', async (t) => {
  const upstreams = replaced(rightFiles['upstreams.yaml'] as string, '{ key: PAINTER_KEY }', 'PAINTER_KEY');
  t.same(problemsOf(writeCatalogue(t, { 'upstreams.yaml': upstreams })), [
    'upstreams.yaml:4:9: "PAINTER_KEY" is of the wrong type; write the variable of each secret, such as { key: NAME_OF_AN_ENVIRONMENT_VARIABLE }',
  ]);
});

const networks = rightFiles['networks.yaml'] as string;

for (const [promise, from, to, expected] of [
  [
    'an address whose capitals do not fit is misspelt',
    '0x779Ded0c9e1022225f8E0630b35a9b54bE713736',
    '0x779ded0c9e1022225f8E0630b35a9b54bE713736',
    'is misspelt, for its capitals do not fit (EIP-55)',
  ],
  [
    'a mint is 32 bytes',
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
    'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTD',
    'is not a Solana address',
  ],
  ['a live network is no test network', 'eip155:988', 'eip155:84532', 'eip155:84532 is Base Sepolia'],
  [
    'nor is a live Solana',
    'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
    'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
    'is the Solana devnet',
  ],
  [
    'a factory of wallets whose capitals do not fit is misspelt',
    'caip2: eip155:988\n',
    'caip2: eip155:988\n    walletFactories: ["0xbA5ED110eFDBa3D005bfC882d75358ACBbB85842"]\n',
    'is misspelt, for its capitals do not fit (EIP-55)',
  ],
  [
    'a factory of wallets is an address',
    'caip2: eip155:988\n',
    'caip2: eip155:988\n    walletFactories: [safe]\n',
    'write a quoted EVM address: 0x and 40 hexadecimal digits',
  ],
  [
    'wallets of Solana are deployed by nobody',
    'caip2: solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp\n',
    'caip2: solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp\n    walletFactories: ["0xBA5ED110eFDBa3D005bfC882d75358ACBbB85842"]\n',
    'wallets are deployed on EVM networks alone; leave walletFactories out',
  ],
] as const) {
  t.test(promise, async (t) => {
    const problems = problemsOf(writeCatalogue(t, { 'networks.yaml': replaced(networks, from, to) }));
    t.ok(problems[0]?.includes(expected), expected, { problems });
  });
}

t.test('networks are held to their family', async (t) => {
  const mixed = replaced(replaced(networks, ', name: USDT0, version: "1"', ''), 'family: solana', 'family: evm');
  const problems = problemsOf(writeCatalogue(t, { 'networks.yaml': mixed }));
  t.ok(
    problems.some((problem) =>
      problem.includes('networks.yaml:6:12: solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp is not of'),
    ),
  );
  t.ok(problems.some((problem) => problem.includes('networks.yaml:15:5: an EVM asset needs the name and version')));
});

t.test('a name may hold what URLs escape: a mistake below it is one like any other', (t) => {
  const priced = replaced(oil, '{ small: "0.05", large: "0.1" }', '{ small: "0.05", "100%": 0.1, "a/b~c": 0.2 }');
  t.same(problemsOf(writeCatalogue(t, { 'endpoints/image/oil.yaml': priced })), [
    'endpoints/image/oil.yaml:3:68: 0.1 is not quoted; write "0.1"',
    'endpoints/image/oil.yaml:3:82: 0.2 is not quoted; write "0.2"',
  ]);
  t.end();
});

t.test('what of an address is never sent is refused', async (t) => {
  for (const [address, what] of [
    ['https://shop:word@painter.example/v1', 'a user name or a password'],
    ['https://painter.example/v1?version=2', 'a query'],
    ['"https://painter.example/v1#two"', 'a fragment'],
  ] as const) {
    const upstreams = replaced(rightFiles['upstreams.yaml'] as string, 'https://painter.example/v1', address);
    t.same(problemsOf(writeCatalogue(t, { 'upstreams.yaml': upstreams })), [
      `upstreams.yaml:3:12: the address holds ${what}, which is never sent; write it without`,
    ]);
  }
});
