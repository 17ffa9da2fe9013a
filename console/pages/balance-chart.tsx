import { Area, AreaChart, CartesianGrid, ResponsiveContainer, Tooltip, XAxis, YAxis } from "recharts";
import { nairaText } from "../components/money.tsx";

type Day = { readonly day: string; readonly balance: number | null };

/** An account's balance at the end of each day; the table beside it has the same numbers. */
export const BalanceChart = ({ balances }: { readonly balances: readonly Day[] }) => (
  <ResponsiveContainer width="100%" height={240}>
    <AreaChart data={[...balances]} title="Balance by day" accessibilityLayer margin={{ left: 16, right: 8, top: 8 }}>
      <CartesianGrid vertical={false} stroke="var(--console-line)" />
      <XAxis dataKey="day" tickFormatter={dayText} tick={TICK} minTickGap={24} />
      <YAxis tickFormatter={shortNaira} tick={TICK} width={64} />
      <Tooltip
        formatter={(balance) => [nairaText(Number(balance)), "Balance"]}
        contentStyle={{ background: "var(--console-surface)", borderColor: "var(--console-line)" }}
      />
      <Area
        dataKey="balance"
        type="stepAfter"
        stroke="var(--mantine-color-blue-6)"
        fill="var(--mantine-color-blue-6)"
        fillOpacity={0.15}
        isAnimationActive={false}
      />
    </AreaChart>
  </ResponsiveContainer>
);

const TICK = { fill: "currentColor", fontSize: 12 };

const dayFormat = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });
const dayText = (day: string): string => dayFormat.format(new Date(day));

const shortFormat = new Intl.NumberFormat("en-NG", { notation: "compact" });
const shortNaira = (naira: number): string => shortFormat.format(naira);
