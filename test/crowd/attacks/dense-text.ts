import { createHash } from 'node:crypto';
import { request, signProof } from '../../clients.ts';
import { prose } from '../../pricing/scripts.ts';
import type { Attack } from '../attack.ts';
import { bearer, completion } from './key-calls.ts';

const CHARACTERS = 20_000;

/** Texts of many tokens for their length. */
function texts(): string[] {
  const digests = Array.from({ length: 200 }, (_, number) => createHash('sha512').update(`${number}`).digest());
  const hex = digests.map((digest) => digest.toString('hex')).join('\n');
  const base64 = digests.map((digest) => digest.toString('base64')).join('\n');
  const rare = ['Gujarati', 'Sinhala', 'Burmese', 'Lao'].map((script) => (prose[script] ?? '').repeat(300));
  return [hex, base64, ...rare, '🫎🪿🦑'.repeat(CHARACTERS / 6)].map((text) => text.slice(0, CHARACTERS));
}

/** Prompts whose tokens are hard to estimate, at a quote and at an API key, with hardly any output. */
export const denseText: Attack = {
  name: 'dense text (hex, base64, rare scripts, emoji)',
  async run(scene) {
    const { gateway } = await scene.newWallet('1');
    const key = await scene.newKey('1');
    for (const text of texts().slice(0, scene.times(7))) {
      const prompt = `${text} ${scene.mark({ writesFor: 0 })}`;
      const call = request(gateway, '/llm/vendor5-k3', { prompt, max_tokens: 16 });
      await scene.send(call, await signProof(gateway, 'chain-c', call));
      await scene.send(completion(scene, prompt, { max_tokens: 16 }), bearer(key));
    }
  },
};
