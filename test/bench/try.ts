import { purchase } from "./purchase/purchase.ts";
const m = await purchase.measure((l)=>console.log(l));
for (const t of Object.values(m.sections)) console.log(t);
