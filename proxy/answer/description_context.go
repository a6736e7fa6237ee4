package answer

import "github.com/urnd/urnd/proxy/answer/represent"

// descriptionContext is the context of descriptions: that of schema.org, and after it, to take precedence,
// one for the members for which schema.org has no term, or one with another meaning, such as status. The
// metadata of a record is a JSON literal (JSON-LD 1.1 section 4.2.2): its members are free.
const descriptionContext = `["https://schema.org",{"@version":1.1,"urnd":"` + represent.Vocabulary + `",` +
	`"xsd":"http://www.w3.org/2001/XMLSchema#",` +
	`"namespace":"urnd:namespace","document":"urnd:document","conforms":"urnd:conforms","status":"urnd:status","validity":"urnd:validity",` +
	`"detail":"urnd:detail",` +
	`"warnings":{"@id":"urnd:warning","@context":{"rule":"urnd:rule","says":"urnd:says","section":"urnd:section"}},` +
	`"record":{"@id":"urnd:record","@context":{"name":{"@id":"urnd:name","@type":"@id"},"version":"urnd:version",` +
	`"changed":{"@id":"urnd:changed","@type":"xsd:dateTime"},"since":{"@id":"urnd:since","@type":"xsd:dateTime"},"reason":"urnd:reason",` +
	`"successors":{"@id":"urnd:successor","@type":"@id"},"metadata":{"@id":"urnd:metadata","@type":"@json"},"contact":"urnd:contact",` +
	`"redirect":"urnd:redirect","sandbox":"urnd:sandbox"}}}]`
