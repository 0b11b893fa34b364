import t from 'tap';
import { keeping } from '../contract.ts';
import { numbering } from '../numbering.ts';
import { promisedInMemory } from '../promised.ts';
import { claiming } from './claiming.ts';
import { forgetting } from './forgetting.ts';
import { payers } from './payers.ts';
import { states } from './states.ts';

const promise = promisedInMemory(t);

claiming(promise);
states(promise);
forgetting(promise);
numbering(promise);
payers(promise);
keeping(promise);
