/** Whatever one turn of the event loop hands over is passed on together, at the turn's end and in its order. */
export function togetherInOneTurn<Item>(pass: (items: readonly Item[]) => void): (item: Item) => void {
  let waiting: Item[] = [];

  function passOn(): void {
    const items = waiting;
    waiting = [];
    pass(items);
  }

  return (item) => {
    if (waiting.length === 0) setImmediate(passOn);
    waiting.push(item);
  };
}
