/** Small mistakes that somebody could make in a file, one at a time. */
import ts from 'typescript';

export interface Mutant {
  /** Offsets into the file. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  /** Where it is, from 1. */
  readonly line: number;
  readonly original: string;
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

/** All of a file's, in the order of the text. */
export function mutantsOf(path: string, text: string): Mutant[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS);
  const found: Mutant[] = [];
  const add = (node: ts.Node, replacement: string): void => {
    const start = node.getStart(file);
    const { line } = file.getLineAndCharacterOfPosition(start);
    found.push({ start, end: node.end, replacement, line: line + 1, original: text.slice(start, node.end) });
  };
  const visit = (node: ts.Node): void => {
    if (isType(node)) return;
    if (ts.isExpressionStatement(node) && isTold(node.getText(file))) return;
    mutate(node, add, file);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

function mutate(node: ts.Node, add: (node: ts.Node, replacement: string) => void, file: ts.SourceFile): void {
  if (ts.isBinaryExpression(node)) {
    const other = OPERATORS.get(node.operatorToken.kind);
    const isText = [node.left, node.right].some(
      (side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side),
    );
    if (other !== undefined && !isText) add(node.operatorToken, other);
    if (node.operatorToken.kind === K.QuestionQuestionToken) add(node, node.right.getText(file));
  } else if (ts.isPrefixUnaryExpression(node) && node.operator === K.ExclamationToken) {
    add(node, node.operand.getText(file));
  } else if (node.kind === K.TrueKeyword || node.kind === K.FalseKeyword) {
    add(node, node.kind === K.TrueKeyword ? 'false' : 'true');
  } else if (ts.isIfStatement(node)) {
    add(node.expression, 'false');
    add(node.expression, 'true');
  } else if (ts.isConditionalExpression(node)) {
    add(node, node.whenTrue.getText(file));
    add(node, node.whenFalse.getText(file));
  } else if (ts.isExpressionStatement(node)) {
    const { expression } = node;
    const call = ts.isAwaitExpression(expression) ? expression.expression : expression;
    if (ts.isCallExpression(call) || ts.isBinaryExpression(call)) add(node, ';');
  } else if (ts.isThrowStatement(node)) add(node, ';');
}
