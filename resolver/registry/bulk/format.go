package bulk

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Format is a format of names.
type Format string

// The formats.
const (
	Detect      Format = ""            // by the content: NDJSON or CSV, of an import
	CSV         Format = "csv"         // RFC 4180, separated by commas or semicolons
	TSV         Format = "tsv"         // CSV separated by tabs
	NDJSON      Format = "ndjson"      // a JSON object a line
	Bioregistry Format = "bioregistry" // the registry.json of the Bioregistry, of an import
	Handle      Format = "handle"      // a batch, or JSON, of the Handle.net software, of an import
	PURL        Format = "purl"        // XML of a PURL server, of an import
	W3ID        Format = "w3id"        // .htaccess files of Apache, as w3id.org has them, of an import
	Shlink      Format = "shlink"      // CSV or JSON of Shlink, of an import
	DNB         Format = "dnb"         // JSON or epicur of the Deutsche Nationalbibliothek, of an import
	RewriteMap  Format = "rewritemap"  // the text of a RewriteMap of Apache, of an import
	Nginx       Format = "nginx"       // a configuration of nginx, of an import
	NOID        Format = "noid"        // commands bind, or ANVL, of NOID and EZID, of an import
	DataCite    Format = "datacite"    // JSON of DataCite, of an import
	NginxMap    Format = "nginx-map"   // a map of nginx, of an export
	NAPTRZone   Format = "naptr-zone"  // NAPTR records of RFC 3404 in a zone file, of an export
)

// ParseFormat returns the format that a text names; "" is Detect.
func ParseFormat(text string) (Format, error) {
	switch f := Format(strings.ToLower(text)); f {
	case Detect, CSV, TSV, NDJSON, Bioregistry, Handle, PURL, W3ID, Shlink, DNB, RewriteMap, Nginx, NOID, DataCite, NginxMap, NAPTRZone:
		return f, nil
	case "jsonl":
		return NDJSON, nil
	default:
		return Detect, fmt.Errorf("%q is not a format: there are csv, tsv and ndjson; of imports bioregistry, datacite, dnb, handle, nginx, noid, "+
			"purl, rewritemap, shlink and w3id; of exports nginx-map and naptr-zone", text)
	}
}

// FormatOf returns the format that the name of a file tells, also where it is compressed; Detect if it
// tells none.
func FormatOf(filename string) Format {
	switch Extension(filename) {
	case ".csv":
		return CSV
	case ".tsv", ".tab":
		return TSV
	case ".ndjson", ".jsonl":
		return NDJSON
	default:
		return Detect
	}
}

// Extension returns what the name of a file ends with, from its last dot on and in lower case, without that of a compression.
func Extension(filename string) string {
	name := strings.ToLower(filepath.Base(filename))
	for _, compressed := range []string{".gz", ".zst", ".zstd"} {
		name = strings.TrimSuffix(name, compressed)
	}
	return filepath.Ext(name)
}
