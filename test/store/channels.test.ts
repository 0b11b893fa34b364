import t from 'tap';
import { channels } from './channels.ts';
import { promisedInMemory } from './promised.ts';

channels(promisedInMemory(t));
