/** Puts the chat onto its page. */
import { h, render } from 'preact';
import { Chat } from './chat.tsx';

export function startChat(element: Element): void {
  render(h(Chat, { isSandbox: document.body.dataset.mode === 'sandbox' }), element);
}
