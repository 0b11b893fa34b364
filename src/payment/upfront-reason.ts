/** Why a payment settles before the work, in the words that its payer reads. */
export const upfrontReasons = {
  above: 'calls of this price settle first',
  loss: 'too much was lost here to settlements that failed',
  deadline: 'the payment may not outlive the work',
  contract: 'only its chain can check a wallet that is a contract',
  undeployed: 'the wallet that pays does not exist on its chain yet',
  exposure: 'this payer has as much under way as it may',
  failures: 'settlements of this payer failed after the work',
  sent: 'the payer sent it already',
  held: 'the money is locked before the work and taken after it',
  offered: 'its challenge said so',
} as const;

export type UpfrontReason = keyof typeof upfrontReasons;
