import t from 'tap';
import { promisedInMemory } from '../promised.ts';
import { channels } from './channels.ts';

channels(promisedInMemory(t));
