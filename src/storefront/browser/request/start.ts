/** The form of an endpoint: its price follows what is filled in, and so do the faults. */
import { dollarsOf } from '../../shown.ts';
import { startPurchase } from '../purchase/start.ts';
import { showFaults } from './faults.ts';
import { type Answer, askPrice } from './quote.ts';
import { fieldsOf, nameOf, readForm } from './read-form.ts';
import { syncSliders } from './sliders.ts';

/** After the last key or movement. */
const PAUSE_MS = 150;

/** A text of a query as JSON: as it stands where it is some, for a number that were read might be another. */
function literal(text: string): string {
  try {
    JSON.parse(text);
    return text;
  } catch {
    return JSON.stringify(text);
  }
}

/** A list where there are several. */
function jsonOf(texts: readonly string[]): string {
  const said = texts.filter((text) => text !== '').map(literal);
  return said.length > 1 ? `[${said.join()}]` : said.join();
}

/** What an address says of fields fills them in: links to a request can be shared. */
function fillFromAddress(form: HTMLFormElement): void {
  const query = new URLSearchParams(location.search);
  const fields = fieldsOf(form);
  // Whoever passes a link on may put words of their own behind it.
  if (!fields.some((field) => query.has(nameOf(field)))) return;
  for (const field of fields) {
    const texts = query.getAll(nameOf(field));
    field.value = field.dataset.kind === 'json' ? jsonOf(texts) : texts.join('\n');
  }
}

function priceInWords({ price, isFree, faults }: Answer): string {
  if (isFree) return 'Free';
  if (price === undefined) return 'No price yet';
  return `${faults.length > 0 ? 'from ' : ''}${dollarsOf(price)} USD`;
}

export function startRequest(form: HTMLFormElement): void {
  const price = document.querySelector('#price');
  const offer = startPurchase(() => readForm(form).call);
  let asking = new AbortController();
  let asked = '';
  let pause: ReturnType<typeof setTimeout> | undefined;

  async function ask(): Promise<void> {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    const reading = readForm(form);
    asked = JSON.stringify(reading);
    const { call, faults } = reading;
    if (!call) {
      offer(undefined);
      return showFaults(form, faults, []);
    }
    form.setAttribute('aria-busy', 'true');
    try {
      const answer = await askPrice(call, signal);
      showFaults(
        form,
        answer.faults,
        answer.problem !== undefined && answer.faults.length === 0 ? [answer.problem] : [],
      );
      if (price) price.textContent = priceInWords(answer);
      offer(answer.faults.length > 0 ? undefined : answer.quote);
    } catch (error) {
      if (signal.aborted) return;
      showFaults(form, [], [`The gateway cannot be reached: ${error instanceof Error ? error.message : error}`]);
    }
    form.removeAttribute('aria-busy');
  }

  fillFromAddress(form);
  syncSliders(form);
  form.addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(ask, PAUSE_MS);
  });
  form.addEventListener('submit', (event) => event.preventDefault());
  // Who goes back finds the fields as they were left: the browser fills them in after this has run, and says nothing of it.
  addEventListener('pageshow', () => {
    if (JSON.stringify(readForm(form)) !== asked) void ask();
  });
  void ask();
}
