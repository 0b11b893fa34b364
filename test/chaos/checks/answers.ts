/** Who paid has the answer, and can have it again; who did not has none. */
import { endOf, type Purchase } from '../purchase.ts';
import type { Evidence } from './evidence.ts';
import type { Violation } from './violation.ts';

export function checkAnswers({ purchases, ledger, books }: Evidence): Violation[] {
  return purchases.flatMap((purchase) => {
    const settled = purchase.proofs.filter(({ payment }) => ledger.find(payment));
    return [
      ...(settled.length > 1
        ? [broken(purchase, 'one purchase is paid once', `${settled.length} payments for it were settled`)]
        : []),
      ...purchase.proofs
        .filter(({ payment }) => ledger.find(payment) || books.payments.get(payment)?.receipt)
        .flatMap((proof) => canBeHad(purchase, proof)),
      ...notForNothing(purchase, ledger),
      ...strange(purchase),
    ];
  });
}

const broken = ({ mark }: Purchase, promise: string, text: string): Violation => ({ promise, text, mark });

function canBeHad(purchase: Purchase, proof: Purchase['proofs'][number]): Violation[] {
  const answers = purchase.received.filter((each) => each.proof === proof);
  const last = answers.at(-1)?.answer;
  const promise = 'a settled payment has one answer, and has it always';
  if (last?.status !== 200) {
    return [broken(purchase, promise, `asked again at the end, the payer gets ${last?.status} ${last?.code}`)];
  }
  const good = answers.filter(({ answer }) => answer.status === 200);
  const other = good.find(({ answer }) => answer.text !== last.text);
  return other ? [broken(purchase, promise, `the answers differ: ${other.answer.text} and ${last.text}`)] : [];
}

/** What the chain takes back after it was told is the operator's loss. */
function notForNothing(purchase: Purchase, { find, takenBack }: Evidence['ledger']): Violation[] {
  const given = purchase.received.some(({ answer }) => answer.status === 200);
  const isPaid = purchase.proofs.some(
    ({ payment }) => find(payment) ?? takenBack.find((transfer) => transfer.payment === payment),
  );
  return given && !isPaid ? [broken(purchase, 'nothing is given for nothing', 'an answer came unpaid')] : [];
}

function strange(purchase: Purchase): Violation[] {
  return purchase.received.flatMap(({ answer: { status, code, text } }) => {
    if (code === 'internal_error') return [broken(purchase, 'no internal_error', text)];
    if (status !== 200) return [];
    const isText = purchase.path.includes('/llm/');
    const isOwn = !isText || text.includes(`${purchase.mark} `);
    return isOwn ? [] : [broken(purchase, 'everybody gets its own answer', text)];
  });
}

/** A payer that came back in time with a good payment, once nothing failed any more, and was not served. */
export function checkServed(asked: readonly Purchase[]): Violation[] {
  return asked.flatMap((purchase) => {
    const proof = purchase.proofs.at(-1);
    if (!proof || endOf(purchase, proof)) return [];
    const last = purchase.received.at(-1)?.answer;
    const text = `the payer goes on asking, and gets ${last?.status} ${last?.code}`;
    return [broken(purchase, 'a payer who goes on asking is served or refused for good', text)];
  });
}
