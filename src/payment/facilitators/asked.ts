import { Refusal } from '../refusal.ts';
import { FacilitatorUnreachable } from './facilitator.ts';

/** What a question about a payment comes to. Throws Refusal where nobody could be asked: that is no fault of the payment. */
export async function asked<Answer>(what: string, question: Promise<Answer>): Promise<Answer> {
  try {
    return await question;
  } catch (error) {
    if (!(error instanceof FacilitatorUnreachable)) throw error;
    throw new Refusal('verification-failed', `${what} could not be checked at the moment: try again`, { cause: error });
  }
}
