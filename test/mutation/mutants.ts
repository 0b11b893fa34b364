/** Small mistakes that somebody could make in a file. All are written into it at once, and each waits to be switched on. */
import ts from 'typescript';

export interface Mutant {
  readonly id: number;
  readonly file: string;
  /** Where it is, from 1. */
  readonly line: number;
  readonly original: string;
  readonly replacement: string;
}

export interface Mutated {
  readonly mutants: readonly Mutant[];
  /** The file, which does what it always did until `$mutant(id)`, a global where trials run, answers true. */
  readonly text: string;
}

interface Mistake {
  /** What is shown of it: an operator alone, where it is an operator that is mistaken. */
  readonly part: ts.Node;
  readonly replacement: string;
  /** What then stands in place of the node. */
  readonly instead: string;
}

const K = ts.SyntaxKind;

const OPERATORS: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [K.EqualsEqualsEqualsToken, '!=='],
  [K.ExclamationEqualsEqualsToken, '==='],
  [K.LessThanToken, '<='],
  [K.LessThanEqualsToken, '<'],
  [K.GreaterThanToken, '>='],
  [K.GreaterThanEqualsToken, '>'],
  [K.AmpersandAmpersandToken, '||'],
  [K.BarBarToken, '&&'],
  [K.PlusToken, '-'],
  [K.MinusToken, '+'],
  [K.AsteriskToken, '/'],
]);

/** What people read of the work: nothing that is promised depends on it. */
const isTold = (text: string): boolean => /^(await )?(\w+\.)*(log|metrics)\b/.test(text);

const isType = (node: ts.Node): boolean =>
  ts.isTypeNode(node) ||
  ts.isInterfaceDeclaration(node) ||
  ts.isTypeAliasDeclaration(node) ||
  ts.isImportDeclaration(node);

/** All mistakes of a file, numbered from `firstId` in the order of the text, and the file with them in it. */
export function mutatedBy(file: string, text: string, firstId: number): Mutated {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS);
  const mutants: Mutant[] = [];

  const nameOf = ({ part, replacement }: Mistake): string => {
    const line = source.getLineAndCharacterOfPosition(part.getStart()).line + 1;
    const id = firstId + mutants.length;
    mutants.push({ id, file, line, original: part.getText(), replacement });
    return `globalThis.$mutant?.(${id})`;
  };

  const written = (node: ts.Node): string => {
    if (isType(node) || (ts.isExpressionStatement(node) && isTold(node.getText()))) return node.getText();
    const mistakes = mistakesAt(node).map((mistake) => ({ name: nameOf(mistake), ...mistake }));
    let own = '';
    let from = node.getStart();
    ts.forEachChild(node, (child) => {
      own += text.slice(from, child.getStart()) + written(child);
      from = child.end;
    });
    own += text.slice(from, node.end);
    return mistakes.reduceRight(
      (otherwise, { name, instead }) =>
        ts.isStatement(node) ? `{ if (!${name}) { ${otherwise} } }` : `(${name} ? (${instead}) : ${otherwise})`,
      own,
    );
  };

  return { text: written(source), mutants };
}

const isCondition = (node: ts.Node): boolean =>
  !ts.isSourceFile(node) && ts.isIfStatement(node.parent) && node.parent.expression === node;

function mistakesAt(node: ts.Node): Mistake[] {
  const as = (...replacements: readonly string[]): Mistake[] =>
    replacements.map((replacement) => ({ part: node, replacement, instead: replacement }));
  const own = () => {
    if (ts.isBinaryExpression(node)) return inOperator(node);
    if (ts.isPrefixUnaryExpression(node) && node.operator === K.ExclamationToken) return as(node.operand.getText());
    if (node.kind === K.TrueKeyword) return as('false');
    if (node.kind === K.FalseKeyword) return as('true');
    if (ts.isConditionalExpression(node)) return as(node.whenTrue.getText(), node.whenFalse.getText());
    return ts.isThrowStatement(node) || isAct(node) ? as(';') : [];
  };
  return isCondition(node) ? [...as('false', 'true'), ...own()] : own();
}

/** A statement that is there for what it does: a call or an assignment. */
function isAct(node: ts.Node): boolean {
  if (!ts.isExpressionStatement(node)) return false;
  const { expression } = node;
  const act = ts.isAwaitExpression(expression) ? expression.expression : expression;
  return ts.isCallExpression(act) || ts.isBinaryExpression(act);
}

function inOperator(node: ts.BinaryExpression): Mistake[] {
  const { operatorToken: part, left, right } = node;
  if (part.kind === K.QuestionQuestionToken) {
    return [{ part: node, replacement: right.getText(), instead: right.getText() }];
  }
  const replacement = OPERATORS.get(part.kind);
  const isText = [left, right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side));
  if (replacement === undefined || isText) return [];
  return [{ part, replacement, instead: `${left.getText()} ${replacement} ${right.getText()}` }];
}
