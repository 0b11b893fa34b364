import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface Props {
  readonly title: string;
  readonly children: ComponentChildren;
  onClose(): void;
  /** What must not be closed by accident. */
  readonly isKept?: boolean;
}

/** A question in front of the page, with the browser's own focus and Escape. There while it is rendered. */
export function Dialog({ title, children, onClose, isKept = false }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  const isGone = useRef(false);
  useEffect(() => {
    const element = dialog.current;
    element?.showModal();
    return () => {
      isGone.current = true;
      // Gives the focus back to where it was.
      element?.close();
    };
  }, []);
  useEffect(() => {
    // A second Escape is no cancelling any more, and what has the focus may be gone: the key itself is kept from the browser.
    const keep = (event: KeyboardEvent): void => {
      if (isKept && event.key === 'Escape') event.preventDefault();
    };
    document.addEventListener('keydown', keep);
    return () => document.removeEventListener('keydown', keep);
  }, [isKept]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onCancel={(event) => isKept && event.preventDefault()}
      onClose={() => !isGone.current && onClose()}
    >
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}
