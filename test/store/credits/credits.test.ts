import t from 'tap';
import { promisedInMemory } from '../promised.ts';
import { credits } from './credits-contract.ts';

credits(promisedInMemory(t));
