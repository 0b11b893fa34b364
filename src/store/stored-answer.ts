/** What a caller gets, kept so that the same payment, or the same call of an API key, gets it again. */
export interface StoredAnswer {
  status: number;
  /** Receipt headers are not in here: they are made from the receipt. */
  contentType: string;
  body: string;
}

/** Stands in the place of an answer that was kept long enough: transports say so in their own words (`answer_gone`). */
export const FORGOTTEN: StoredAnswer = { status: 410, contentType: '', body: '' };

export const isForgotten = ({ status }: StoredAnswer): boolean => status === FORGOTTEN.status;
