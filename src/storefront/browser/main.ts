/** What the pages do beside being read; bundled by `npm run codegen` into `generated/storefront/`. */
import './styles/main.css';
import { addCopyButtons } from './copy.ts';
import { startList } from './list.ts';
import { startRequest } from './request/start.ts';

document.documentElement.classList.add('scripted');
const filters = document.querySelector<HTMLFormElement>('#filters');
if (filters) startList(filters);
const request = document.querySelector<HTMLFormElement>('#request');
if (request) startRequest(request);
addCopyButtons();
const chat = document.querySelector('#chat');
if (chat) void import('./chat/start.ts').then(({ startChat }) => startChat(chat));
