import t from 'tap';
import { credits } from './credits-contract.ts';
import { promisedInMemory } from './promised.ts';

credits(promisedInMemory(t));
