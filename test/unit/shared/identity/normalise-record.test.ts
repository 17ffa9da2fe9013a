import { describe, expect, test } from "vitest";
import {
  bvnAdvancedResult,
  bvnBasicResult,
  bvnRetrieveResult,
  ninAdvancedResult,
  ninBasicResult,
  ninRetrieveResult,
} from "../../../../shared/contract/identity.ts";
import { type DateReadingContext, isOfAnother, normaliseRecord } from "../../../../shared/identity/normalise-record.ts";

const known = { nin: "12345678901" };
const dateReading: DateReadingContext = {
  order: "day-first",
  nowMs: Date.parse("2026-11-21T12:00:00.000Z"),
  onUnreadable: () => undefined,
};
const basic = (record: Readonly<Record<string, unknown>>) =>
  normaliseRecord({ first_name: "Ngozi", ...record }, ninBasicResult, known, dateReading);
const advanced = (record: Readonly<Record<string, unknown>>) =>
  normaliseRecord({ first_name: "Ngozi", ...record }, ninAdvancedResult, known, dateReading);
const advancedBvn = (record: Readonly<Record<string, unknown>>) =>
  normaliseRecord({ first_name: "Ngozi", ...record }, bvnAdvancedResult, { bvn: "22345678901" }, dateReading);

const emptyNames = { first_name: "", last_name: "", middle_name: "", gender: "", date_of_birth: "" };

describe("names of fields", () => {
  const spellings: readonly (readonly [string, string])[] = [
    ["first_name", "first_name"],
    ["firstName", "first_name"],
    ["firstname", "first_name"],
    ["FIRSTNAME", "first_name"],
    ["First Name", "first_name"],
    ["first-name", "first_name"],
    ["last_name", "last_name"],
    ["lastName", "last_name"],
    ["surname", "last_name"],
    ["Surname", "last_name"],
    ["middle_name", "middle_name"],
    ["middlename", "middle_name"],
    ["middleName", "middle_name"],
    ["otherNames", "middle_name"],
  ];
  test.each(spellings)("the field %s is read as %s", (sent, ours) => {
    expect(normaliseRecord({ [sent]: "Ada" }, ninBasicResult, known, dateReading)).toEqual({
      ...emptyNames,
      [ours]: "Ada",
    });
  });

  const advancedSpellings: readonly (readonly [string, string, string])[] = [
    ["birthdate", "1974-01-06", "date_of_birth"],
    ["dateOfBirth", "1974-01-06", "date_of_birth"],
    ["dob", "1974-01-06", "date_of_birth"],
    ["sex", "F", "gender"],
    ["phoneNumber", "08031234567", "phone_number"],
    ["telephoneno", "08031234567", "phone_number"],
    ["phone", "08031234567", "phone_number"],
    ["base64Image", "aGk=", "photo"],
    ["image", "aGk=", "photo"],
    ["maritalStatus", "Single", "marital_status"],
    ["residentialAddress", "1 Mock Street", "residential_address"],
    ["residence_address", "1 Mock Street", "residential_address"],
    ["stateOfOrigin", "Kano", "state_of_origin"],
    ["self_origin_state", "Kano", "state_of_origin"],
    ["lgaOfOrigin", "Mock North", "lga_of_origin"],
    ["self_origin_lga", "Mock North", "lga_of_origin"],
  ];
  test.each(advancedSpellings)("the advanced field %s is read as %j", (sent, value, ours) => {
    const result = advanced({ [sent]: value });
    expect(result).toMatchObject({ [ours]: value });
    expect(result).not.toHaveProperty(sent);
  });

  test("the fields of a BVN are read in camel case too", () => {
    const record = { enrollmentBank: "Mock Bank", registrationDate: "14-February-2016", watchListed: "NO" };
    const ours = { enrollment_bank: "Mock Bank", registration_date: "2016-02-14", watch_listed: false };
    expect(advancedBvn(record)).toMatchObject(ours);
  });

  test("of two aliases of a field the first with a value counts", () => {
    const record = { firstName: "", first_name: "  ", givenName: "Ada", last_name: null, surname: "Obi" };
    expect(normaliseRecord(record, ninBasicResult, known, dateReading)).toMatchObject({
      first_name: "Ada",
      last_name: "Obi",
    });
  });
});

describe("dates", () => {
  // test/unit/shared/identity/read-date.test.ts has the ways to write one.
  const dates: readonly (readonly [unknown, string])[] = [
    ["01-January-1907", "1907-01-01"],
    ["09-Sept-1990", "1990-09-09"],
    [" 06-01-1974 ", "1974-01-06"],
    // Midnight in Lagos.
    ["1997-12-30T23:00:00.000Z", "1997-12-31"],
    ["1997-12-30T23:00:00Z", "1997-12-31"],
    ["1997-12-31T00:00:00.000+01:00", "1997-12-31"],
    // Midnight in UTC is one o'clock in Lagos, on the same day.
    ["1997-12-31T00:00:00.000Z", "1997-12-31"],
    ["1997-12-30T22:59:59.999Z", "1997-12-30"],
    // No zone is said: the day as it is written.
    ["1997-12-30T23:00:00", "1997-12-30"],
    ["1997-12-30 23:00:00", "1997-12-30"],
    ["2000-02-29", "2000-02-29"],
    ["29-02-2000", "2000-02-29"],
    ["1900-02-29", ""],
    ["29-02-2023", ""],
    ["13-13-1990", ""],
    ["06-01-74", "1974-01-06"],
    ["unknown", ""],
    ["9999-12-31T23:59:59Z", ""],
    ["", ""],
    [null, ""],
    [19_740_106, ""],
    [true, ""],
    [{}, ""],
    [["06-01-1974"], ""],
  ];
  test.each(dates)("the date %j is %j", (sent, expected) => {
    expect(basic({ date_of_birth: sent })).toMatchObject({ first_name: "Ngozi", date_of_birth: expected });
  });

  test("only dates that cannot be read are reported, by field and shape", () => {
    const reported: unknown[] = [];
    const onUnreadable: DateReadingContext["onUnreadable"] = (field, shape) => void reported.push([field, shape]);
    const read = (record: Readonly<Record<string, unknown>>) =>
      normaliseRecord({ first_name: "Ngozi", ...record }, bvnAdvancedResult, known, { ...dateReading, onUnreadable });
    read({ dob: "31/02/1990", registration_date: "Ngozi 07" });
    read({ dob: 19_740_106 });
    read({ dob: "unknown", birthdate: "06-01-1974" });
    read({ dob: "", birthdate: null, registration_date: {} });
    read({ dob: "06-01-1974", title: "31/02/1990", gender: "unknown" });
    expect(reported).toEqual([
      ["date_of_birth", "99/99/9999"],
      ["registration_date", "aaaaa 99"],
      ["date_of_birth", "99999999"],
    ]);
  });

  test("every 13th day from 1900 to 2030 is read the same in six styles", () => {
    const month = new Intl.DateTimeFormat("en-GB", { month: "long", timeZone: "UTC" });
    const wrong: string[] = [];
    for (let atMs = Date.UTC(1900, 0, 1); atMs < Date.UTC(2031, 0, 1); atMs += 13 * 86_400_000) {
      const day = new Date(atMs);
      const iso = day.toISOString().slice(0, 10);
      const [year = "", number = "", date = ""] = iso.split("-");
      const styles = [
        iso,
        `${date}-${number}-${year}`,
        `${Number(date)}/${Number(number)}/${year}`,
        `${date}-${month.format(day)}-${year}`,
        `${date}-${month.format(day).slice(0, 3).toUpperCase()}-${year}`,
        new Date(atMs - 3_600_000).toISOString(),
      ];
      wrong.push(...styles.filter((style) => basic({ date_of_birth: style })?.date_of_birth !== iso));
    }
    expect(wrong).toEqual([]);
  });
});

describe("other values", () => {
  test.each([
    ["f", "F"],
    ["F", "F"],
    ["Female", "F"],
    ["FEMALE", "F"],
    ["m", "M"],
    ["Male", "M"],
    [" male ", "M"],
    ["", ""],
    ["unknown", ""],
    ["X", ""],
    [null, ""],
    [1, ""],
    [{}, ""],
  ])("gender %j is %s", (sent, expected) => {
    expect(basic({ gender: sent })).toMatchObject({ gender: expected });
  });

  test.each([
    ["/9j/4AAQ", "/9j/4AAQ"],
    ["data:image/jpeg;base64,/9j/4AAQ", "/9j/4AAQ"],
    ["data:image/png;base64,iVBOR", "iVBOR"],
    ["data:;base64,iVBOR", "iVBOR"],
    ["data:image/jpeg;base64,", ""],
    ["", ""],
    [null, ""],
  ])("photo %j is %j", (sent, expected) => {
    expect(advanced({ photo: sent })).toMatchObject({ photo: expected });
  });

  test.each([
    ["NO", false],
    ["no", false],
    ["false", false],
    [false, false],
    ["0", false],
    [0, false],
    ["YES", true],
    [true, true],
    ["True", true],
    [1, true],
    ["perhaps", null],
    ["", null],
    [undefined, null],
  ])("watch_listed %j is %s", (sent, expected) => {
    expect(advancedBvn({ watch_listed: sent })).toMatchObject({ watch_listed: expected });
  });

  test("a NIN, BVN or phone number that was sent as a JSON number gets back the leading zero that such a number cannot have", () => {
    expect(advanced({ nin: 1_234_567_890, phone_number: 8_031_234_567 })).toMatchObject({
      nin: "01234567890",
      phone_number: "08031234567",
    });
    expect(advanced({ phone_number: 2_348_031_234_567 })).toMatchObject({ phone_number: "2348031234567" });
    expect(advanced({ phone_number: "8031234567" })).toMatchObject({ phone_number: "8031234567" });
    expect(advancedBvn({ bvn: 1_234_567_890 })).toMatchObject({ bvn: "01234567890" });
  });

  test("text is trimmed; empty text, lists and objects count as absent; a number is written out", () => {
    const record = { last_name: "  Obi ", middle_name: "   ", email: ["a"], title: {}, marital_status: 1 };
    expect(advanced(record)).toMatchObject({
      last_name: "Obi",
      middle_name: "",
      email: null,
      title: null,
      marital_status: "1",
    });
  });

  test("a photo of 5 MB with a data: prefix is read in a time that grows with its length", () => {
    const photo = "A".repeat(5_000_000);
    const startMs = performance.now();
    expect(advanced({ photo: `data:image/jpeg;base64,${photo}` })?.photo === photo).toBe(true);
    // With its square it would take hours.
    expect(performance.now() - startMs).toBeLessThan(60_000);
  });
});

describe("absent and additional fields", () => {
  const five = Object.keys(emptyNames);
  const details =
    "phone_number email title marital_status nationality residential_address state_of_origin lga_of_origin";
  const advancedFields = [...five, "photo", ...details.split(" ")];
  const ofBvn = ["enrollment_bank", "registration_date", "watch_listed"];
  const shapes = [
    ["basic NIN", ninBasicResult, { nin: "1" }, five],
    ["advanced NIN", ninAdvancedResult, { nin: "1" }, ["nin", ...advancedFields]],
    ["basic BVN", bvnBasicResult, { bvn: "1" }, [...five, "phone_number"]],
    ["advanced BVN", bvnAdvancedResult, { bvn: "1" }, ["bvn", ...advancedFields, ...ofBvn]],
    ["NIN retrieval", ninRetrieveResult, { phone_number: "1" }, ["nin", ...five, "phone_number"]],
    ["BVN retrieval", bvnRetrieveResult, { phone_number: "1" }, ["bvn", ...five, "phone_number"]],
  ] as const;
  test.each(shapes)(
    "a %s result has exactly its fields: the requested number, the name, empty text for the rest of a person, and null",
    (name, schema, asked, fields) => {
      const others = name.startsWith("advanced") ? {} : { photo: "aGk=", secret: 1, trackingId: "x" };
      const texts: readonly string[] = [...five, "photo"];
      const absent = (field: string) => (texts.includes(field) ? "" : null);
      const expected = fields.map((field) => [field, Object.hasOwn(asked, field) ? "1" : absent(field)]);
      expect(normaliseRecord({ surname: "Obi", ...others }, schema, asked, dateReading)).toEqual({
        ...Object.fromEntries(expected),
        last_name: "Obi",
      });
    },
  );

  test("unknown fields are passed through as they are, for advanced results only", () => {
    const beyond = { trackingId: "x", nested: { list: [1, null] }, "odd name": false };
    expect(advanced(beyond)).toMatchObject(beyond);
    expect(advancedBvn(beyond)).toMatchObject(beyond);
    for (const name of Object.keys(beyond)) expect(basic(beyond)).not.toHaveProperty(name);
  });

  test("an advanced result keeps a field that only another kind of record has", () => {
    const ofBvn = { bvn: "22345678901", enrollment_bank: "Mock Bank", watch_listed: "NO", registration_date: "x" };
    expect(advanced(ofBvn)).toMatchObject(ofBvn);
    expect(advancedBvn({ nin: "12345678901" })).toMatchObject({ nin: "12345678901" });
  });

  test("an advanced result leaves out an alias of our field whose value cannot be read", () => {
    const result = advanced({ birthdate: "00-00-0000", photo: 7 });
    expect(result).toMatchObject({ date_of_birth: "" });
    expect(result).not.toHaveProperty("birthdate");
  });

  test("halves of surrogate pairs, which parsers of other languages refuse, are replaced at any depth", () => {
    const record = { first_name: "Ngozi\ud83d", notes: [{ "a\udc00": "b\ud83d" }], "c\ud83d": "d" };
    const whole = { first_name: "Ngozi\ufffd", notes: [{ "a\ufffd": "b\ufffd" }], "c\ufffd": "d" };
    expect(advanced(record)).toMatchObject(whole);
  });

  test("a field __proto__ does not change the prototype of the result", () => {
    const record: Record<string, unknown> = JSON.parse(
      '{"first_name":"Ngozi","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
    );
    const result = normaliseRecord(record, ninAdvancedResult, known, dateReading);
    expect(result).toMatchObject({ first_name: "Ngozi", nin: "12345678901" });
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype);
    expect(result).not.toHaveProperty("polluted");
    expect({}).not.toHaveProperty("polluted");
  });
});

describe("a record without a name", () => {
  test.each([
    ["nothing at all", {}],
    ["only the number that was asked for", { nin: "12345678901" }],
    ["fields of null", { first_name: null, last_name: null, gender: null }],
    ["fields of empty text", { firstName: "", surname: " ", gender: "?", birthdate: "00-00-0000" }],
    ["only unknown fields", { message: "ok", trackingId: "x" }],
    ["everything but a name", { gender: "M", birthdate: "1990-01-02", photo: "aGk=", phone: "08031234567" }],
  ])("a record with %s is no result", (_name, record) => {
    expect(normaliseRecord(record, ninBasicResult, known, dateReading)).toBeUndefined();
    expect(normaliseRecord(record, ninAdvancedResult, known, dateReading)).toBeUndefined();
  });

  test("a record with one name is a result", () => {
    expect(normaliseRecord({ surname: "Obi" }, ninBasicResult, known, dateReading)).toEqual({
      ...emptyNames,
      last_name: "Obi",
    });
  });

  test("a record with only the number of a retrieval is a result", () => {
    const asked = { phone_number: "08031234567" };
    expect(normaliseRecord({ nin: "12345678901" }, ninRetrieveResult, asked, dateReading)).toEqual({
      nin: "12345678901",
      ...emptyNames,
      ...asked,
    });
    expect(normaliseRecord({ phone: "08031234567" }, ninRetrieveResult, asked, dateReading)).toBeUndefined();
  });
});

test.each<[Record<string, unknown>, boolean]>([
  [{ nin: "12345678901", first_name: "Ngozi" }, false],
  [{ nin: "12345678909" }, true],
  [{ "NIN Number": 12_345_678_909 }, true],
  // 02345678901 as a JSON number.
  [{ nin: 2_345_678_901 }, true],
  [{ nin: "*******8909" }, false],
  [{ nin: null, bvn: "22345678909" }, false],
])("the record %j is of another person than the one asked for: %j", (record, expected) => {
  expect(isOfAnother(record, "nin", "12345678901")).toBe(expected);
});
