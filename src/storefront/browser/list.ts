/** The front page's search: what does not fit is hidden, and the address says what was looked for. */
import { type Filter, fits, readFilter, type Searched } from './filter.ts';

const words = (text: string | undefined): string[] => (text ?? '').split(' ').filter(Boolean);

const searchedIn = ({ dataset }: HTMLElement): Searched => ({
  text: dataset.text ?? '',
  group: dataset.group ?? '',
  networks: words(dataset.networks),
  doors: words(dataset.doors),
  price: Number(dataset.price),
});

function show(cards: ReadonlyMap<HTMLElement, Searched>, filter: Filter): void {
  let count = 0;
  for (const [card, searched] of cards) {
    card.hidden = !fits(searched, filter);
    if (!card.hidden) count += 1;
  }
  for (const group of document.querySelectorAll<HTMLElement>('.group')) {
    group.hidden = group.querySelector('.card:not([hidden])') === null;
  }
  const status = document.querySelector('#count');
  if (status) status.textContent = `${count} of ${cards.size} endpoints`;
  document.querySelector('#nothing')?.toggleAttribute('hidden', count > 0);
}

/** As an address has it: only what was filled in. */
function queryOf(form: HTMLFormElement): URLSearchParams {
  const filled = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
  return new URLSearchParams(filled.filter(([, value]) => value !== ''));
}

export function startList(form: HTMLFormElement): void {
  const cards = new Map([...document.querySelectorAll<HTMLElement>('.card')].map((card) => [card, searchedIn(card)]));
  for (const [name, value] of new URLSearchParams(location.search)) {
    const field = form.elements.namedItem(name);
    if (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) field.value = value;
  }
  const apply = () => {
    const query = queryOf(form);
    history.replaceState(null, '', query.size > 0 ? `?${query}` : location.pathname);
    show(cards, readFilter(query));
  };
  form.addEventListener('input', apply);
  form.addEventListener('submit', (event) => event.preventDefault());
  show(cards, readFilter(queryOf(form)));
}
