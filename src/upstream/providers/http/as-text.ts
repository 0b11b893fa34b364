/** Numbers of more digits than a number keeps: identities and amounts are read as texts, digit for digit. */

/** As JSON writes it. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

/** What a number is written with, or a list of them. */
const NUMBERS = String.raw`([\d.eE+-]+|\[[\s\d,.eE+-]*\])`;

const literally = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);

/** JSON in which the numbers of members with these names are texts. What is no JSON is none afterwards. */
export function numbersAsText(json: string, names: readonly string[]): string {
  // In a text every quote has a backslash before it: what a member of that name would look like stands for nothing there.
  const members = names.map((name) => literally(JSON.stringify(name))).join('|');
  const found = new RegExp(String.raw`(?<!\\)(${members})(\s*:\s*)${NUMBERS}`, 'g');
  return json.replace(found, (_, member: string, colon: string, numbers: string) => {
    const texts = numbers.replace(/[\d.eE+-]+/g, (piece) => (NUMBER.test(piece) ? `"${piece}"` : piece));
    return member + colon + texts;
  });
}
