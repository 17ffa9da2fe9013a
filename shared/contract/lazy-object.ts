import * as z from "zod";

/**
 * `z.object` of a shape that is made at its first use. The schemas of a large shape take a cold start about a
 * millisecond, and most instances of a function never parse most of the stored shapes (decision 0025). The mark lets esbuild leave unused ones out of a bundle.
 */
/* @__NO_SIDE_EFFECTS__ */
export const lazyObject = <Shape extends z.core.$ZodLooseShape>(makeShape: () => Shape) => {
  let made: Shape | undefined;
  const schema = z.object<Shape>();
  Object.defineProperty(schema.def, "shape", {
    get() {
      made ??= makeShape();
      // The definition may be a copy of the schema's, as that of an object with a description is.
      Object.defineProperty(this, "shape", { value: made });
      return made;
    },
  });
  return schema;
};
