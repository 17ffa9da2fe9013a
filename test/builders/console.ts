/** The setting `console` of a stage, for people of a provider that does not exist. */
export const aConsole = {
  issuer: "https://login.example.com/",
  clientId: "console",
  operatorGroup: "airtime-operators",
  readerGroup: "airtime-readers",
};
