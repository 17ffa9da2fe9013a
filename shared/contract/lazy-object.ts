import * as z from "#zod";

/**
 * `z.object` of a shape that is made at its first use. The schemas of a large shape take a cold start about a
 * millisecond, and most instances of a function never parse most of the stored shapes (decision 0025). A check that is
 * added to it makes the shape. The mark lets esbuild leave unused ones out of a bundle.
 */
/* @__NO_SIDE_EFFECTS__ */
export const lazyObject = <Shape extends z.core.$ZodLooseShape>(makeShape: () => Shape) => {
  const schema = z.object<Shape>();
  Object.defineProperty(schema.def, "shape", {
    get() {
      const shape = makeShape();
      Object.defineProperty(this, "shape", { value: shape });
      return shape;
    },
  });
  return schema;
};
