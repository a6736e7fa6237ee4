// Makes types of both OpenAPI documents in this folder.
import { readFile, writeFile } from "node:fs/promises";
import openapiTS, { astToString } from "openapi-typescript";

for (const name of ["service", "admin"]) {
	await writeFile(`${name}.ts`, astToString(await openapiTS(await readFile(`${name}.json`, "utf8"))));
}
