import t from 'tap';
import { claiming } from './claiming.ts';
import { keeping } from './contract.ts';
import { forgetting } from './forgetting.ts';
import { numbering } from './numbering.ts';
import { payers } from './payers.ts';
import { promisedInMemory } from './promised.ts';
import { states } from './states.ts';

const promise = promisedInMemory(t);

claiming(promise);
states(promise);
forgetting(promise);
numbering(promise);
payers(promise);
keeping(promise);
