/** A button beside every program that copies it. */
const SHOWN_MS = 2_000;

export function addCopyButtons(): void {
  for (const program of document.querySelectorAll<HTMLElement>('.snippet pre')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      // Browsers give no clipboard to pages without TLS that are not on this machine.
      const isCopied = await navigator.clipboard?.writeText(program.textContent ?? '').then(
        () => true,
        () => false,
      );
      button.textContent = isCopied ? 'Copied' : 'Select it by hand';
      setTimeout(() => {
        button.textContent = 'Copy';
      }, SHOWN_MS);
    });
    program.before(button);
  }
}
