import * as z from "zod";

// Zod would compile schemas with `new Function`, which the content security policy forbids and reports.
z.config({ jitless: true });
