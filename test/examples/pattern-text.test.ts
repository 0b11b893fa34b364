import t from 'tap';
import { textForPattern } from '../../src/examples/pattern-text.ts';
import { instanceOf } from '../../src/examples/schema-instance.ts';
import { seeded } from '../../src/examples/seed.ts';

t.test('a text is made for patterns as documents of services write them, whatever the seed', async (t) => {
  const patterns = [
    '^(SM|MM)[0-9a-fA-F]{32}$',
    '^arn:(aws|aws-cn):s3:::[a-z0-9.\\-]{3,63}$',
    '^red$|^green$',
    '^(?:\\+|-)?\\d{3}$',
    '^[a-z]{2}(-[A-Z]{2})?$',
    '^(([a-z]+)/){2,}[a-z]+?$',
    '^(?<year>\\d{4})-(?:0[1-9]|1[0-2])$',
    '^(?!x)[xyz]$',
    '^[^/\\s]+$',
    '^\\S+$',
    '^[\\w\\-.]+@[^\\]@]+$',
    '^[\\s\\S]*$',
    '^[+\\-*]$',
    '^\\x41\\u0042\\tc$',
    '^\\p{Lu}{3}$',
    '^[\\u4e00-\\u9fa5]{2}$',
    '\\bkey\\b',
  ];
  for (const pattern of patterns) {
    // Of what the last letter of a text decides, a part of the seeds is unlucky.
    const texts = Array.from({ length: 20 }, (_, seed) =>
      textForPattern(pattern, seeded(String(seed)), { longest: 1000 }),
    );
    const made = texts.filter((text) => text !== undefined);
    t.ok(made.length > 8, pattern);
    t.ok(made.every((text) => new RegExp(pattern, 'u').test(text)));
  }
});

t.test('a text for a pattern is as long as its schema wants it', async (t) => {
  const bounds = [{ minLength: 20 }, { minLength: 8, maxLength: 8 }, { maxLength: 1 }, { minLength: 3, maxLength: 4 }];
  for (const bound of bounds) {
    const { minLength = 0, maxLength = Infinity } = bound as { minLength?: number; maxLength?: number };
    for (let seed = 0; seed < 20; seed += 1) {
      const text = String(instanceOf({ type: 'string', pattern: '^[A-Za-z0-9_-]+$', ...bound }, String(seed)));
      t.match(text, /^[A-Za-z0-9_-]+$/);
      t.ok(text.length >= minLength && text.length <= maxLength, `${JSON.stringify(bound)}: ${text}`);
    }
  }
});

t.test('no text is made for what nothing fits, what is no pattern, or what has no end', async (t) => {
  for (const pattern of [
    '^a\\b[b]$',
    '(',
    '[',
    '^(a)\\1$',
    '^((a{1000}){1000}){1000}$',
    '^(){1000000000}b{0}c$',
    '^(|a){9999999}d\\Be$',
  ]) {
    const text = textForPattern(pattern, seeded('seed'), { longest: 1000 });
    t.ok(text === undefined || new RegExp(pattern, 'u').test(text), pattern);
  }
  t.equal(textForPattern('^((a{1000}){1000}){1000}$', seeded('seed'), { longest: 1000 }), undefined);
  t.equal(textForPattern('^(a)\\1$', seeded('seed'), { longest: 1000 }), undefined);
  t.equal(textForPattern('(', seeded('seed'), { longest: 1000 }), undefined);
});
