import t from 'tap';
import { alerts } from '../alerts.ts';
import { books } from '../payments/books.ts';
import { promisedInMemory } from '../promised.ts';
import { refunds } from '../refunds.ts';
import { figures } from './figures.ts';

const promise = promisedInMemory(t);

refunds(promise);
books(promise);
figures(promise);
alerts(promise);
