/** Starts chains in a process of its own and prints where they are; then ends as it is told. */
import { startChains } from '../../../src/sandbox/chains/index.ts';
import { baseSepolia, stable } from '../../payment/facilitators/networks.ts';

const chains = await startChains({ networks: [baseSepolia, stable], tempo: true });
console.log(JSON.stringify([...Object.values(chains.evm), chains.tempo].map((chain) => chain?.rpcUrl)));
const end = process.argv.at(-1);
if (end === 'crash') throw new Error('crash');
if (end === 'exit') process.exit(0);
if (end === 'stop') await chains.stop();
if (end === 'wait') setInterval(() => undefined, 1000);
