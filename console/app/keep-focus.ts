/** The element that had the focus last, and what it is in, from inside to outside. */
type Place = readonly Element[];

const placeOf = (element: Element | null): Place =>
  element === null ? [] : [element, ...placeOf(element.parentElement)];

/** Dialogs give the focus back, and pages take it, within this time. */
const OTHERS_MS = 20;

/** A dialog, or a table that the keyboard can scroll. */
const AROUND = "section[tabindex]";
const BESIDE = `:scope > ${AROUND}`;
const OTHER_BUTTON = ":scope > button:enabled";
const WAITING = "[data-loading], [aria-busy=true]";

/**
 * The focus is never lost. Where its element is gone, the table that it was in or beside gets it, where its button cannot be
 * pressed any more, the one beside it, and else the page's heading. A button that waits for an answer has it again
 * afterwards. The page is not scrolled.
 */
export const keepFocus = (): void => {
  let inPage: Place = [];
  let inDialog: Place = [];
  const remember = ({ target, type }: Event) => {
    if (!(target instanceof Element)) return;
    // What is pressed while it has the focus gets no other "focusin".
    if (type === "pointerdown" && [inPage[0], inDialog[0]].some((last) => last?.contains(target))) return;
    // A press beside everything takes the focus away on purpose.
    const place = type === "focusin" ? placeOf(target) : [];
    if (target.closest("[role=dialog]") === null) [inPage, inDialog] = [place, []];
    else inDialog = place;
  };
  const giveAgain = () => {
    if (document.activeElement !== document.body) return;
    const [last, ...around] = inDialog.some((each) => each.isConnected && each.matches(AROUND)) ? inDialog : inPage;
    if (last === undefined || (last.isConnected && last.matches(WAITING))) return;
    const outside = around.find(({ isConnected }) => isConnected);
    const next = last.isConnected
      ? last.matches(":disabled")
        ? outside?.querySelector(OTHER_BUTTON)
        : last
      : (outside?.closest(AROUND) ?? outside?.querySelector(BESIDE));
    const target = next ?? document.querySelector("main h1");
    if (target instanceof HTMLElement) target.focus({ preventScroll: true });
  };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const observer = new MutationObserver(() => {
    // A browser takes the focus from a button some time after it is disabled.
    if (document.activeElement?.matches("body, :disabled") !== true) return;
    clearTimeout(timer);
    timer = setTimeout(giveAgain, OTHERS_MS);
  });
  addEventListener("focusin", remember);
  addEventListener("pointerdown", remember);
  observer.observe(document.body, { subtree: true, childList: true, attributeFilter: ["disabled"] });
};
