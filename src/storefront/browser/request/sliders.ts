/** A number and the slider beside it say the same. */
export function syncSliders(form: HTMLFormElement): void {
  for (const slider of form.querySelectorAll<HTMLInputElement>('input[type=range]')) {
    const number = document.getElementById(slider.dataset.for ?? '');
    if (!(number instanceof HTMLInputElement)) continue;
    const follow = () => {
      if (number.value !== '') slider.value = number.value;
    };
    slider.addEventListener('input', () => {
      number.value = slider.value;
    });
    number.addEventListener('input', follow);
    follow();
  }
}
