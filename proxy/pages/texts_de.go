package pages

func german() texts {
	return texts{
		Colon: ": ", Skip: "Zum Inhalt springen", Start: "Start", Main: "Diese Website", Languages: "Sprache", Contact: "Kontakt", Imprint: "Impressum",
		Privacy: "Datenschutz", Where: "Wo das ist",

		Welcome:   "Dieser Server löst Namen auf: Er leitet zum Ort der Ressource weiter, die eine URN benennt.",
		FormLabel: "URN, URL, ISBN, ISSN oder DOI:", LookUp: "Nachschlagen",
		Append:   "Oder hängen Sie den Namen an die Adresse dieses Servers an, wie in %s.",
		Examples: "Beispiele", Gateways: "Dateien, Menüs, Artikel und Datensätze von FTP-, Gopher-, News- und Bibliotheksservern zeigt die Seite %s.",
		Namespaces: "Namensräume", NamespacesLead: "Für Namen dieser Namensräume hat dieser Server eine Regel, wohin sie führen:",
		NamespacesKnown: "Er kennt die Schreibregeln aller %s registrierten Namensräume.",

		FetchTitle: "URL abrufen",
		FetchSays:  "Dieser Server ruft ab, was Browser nicht mehr können: Dateien, Menüs, Artikel und Datensätze, und zeigt sie als Seiten.",
		FetchLabel: "URL mit ftp, gopher, news, nntp, wais, telnet oder aus dem Web:", Fetch: "Abrufen",

		NotValid: "Dieser Name ist ungültig", NameNotFound: "Dieser Name wurde nicht gefunden", AddressNotFound: "Diese Adresse wurde nicht gefunden",
		NameGone: "Dieser Name wird nicht mehr verwendet", AddressGone: "Diese Adresse wird nicht mehr verwendet",
		NotNow:     "Dieser Name kann gerade nicht aufgelöst werden",
		Reserved:   "Er ist reserviert und führt noch nirgendwohin.",
		NoResource: "Die Stelle, zu der er gehört, hat dafür keine Ressource.",
		NoAddress:  "Unter dieser Adresse ist nichts registriert. Vielleicht ist sie falsch geschrieben, oder der Link hierher ist falsch.",
		Nobody:     "Niemand, den dieser Server fragen kann, kennt ihn.", OwnerWithdrew: "Der Inhaber hat ihn zurückgezogen.",
		NoAnswer: "Ein Server, der gefragt werden muss, antwortet nicht. Versuchen Sie es später noch einmal.",
		Busy:     "Der Server ist ausgelastet. Versuchen Sie es gleich noch einmal.", CannotLookUp: "Dieser Server kann das nicht nachschlagen.",
		AtMark: "Fehler am markierten Zeichen: %s", EndOfInput: "das Ende",
		OpenThis:  "Möchten Sie das öffnen?",
		Led:       "Möglicherweise hat Sie eine andere Seite hierher geführt. Öffnen Sie %s nur, wenn Sie dem trauen, was dabei an einen Server gesendet wird.",
		Withdrawn: "Zurückgezogen am %s", Instead: "An seiner Stelle:", Questions: "Fragen an: %s",
		Sandbox: "Dieser Name dient zur Probe und kann entfernt werden.", DidYouMean: "Meinten Sie %s?", Details: "Einzelheiten",
		Status: "Status %s.", Octet: "Oktett %s.",

		Unreached: "Nicht erreichbar: %s", NoSuch: "Nicht vorhanden: %s", PasswordNeeded: "Ein Passwort ist nötig",
		Refuses:       "Der Server lehnt ab",
		ProxyNoAnswer: "Der Proxy auf dem Weg zu dieser Website hat von ihr keine Antwort erhalten: %s",
		ProxyBusy:     "Der Proxy auf dem Weg zu dieser Website ist ausgelastet. Versuchen Sie es gleich noch einmal.",
		ProxyRefused:  "Der Proxy auf dem Weg zu dieser Website hat die Anfrage nicht weitergeleitet: %s",
		FetchNoAnswer: "Der zuständige Server ist nicht erreichbar oder antwortet nicht, wie er soll: %s",
		FetchBusy:     "Dieser Server ist ausgelastet. Versuchen Sie es gleich noch einmal.", FetchRefused: "Dieser Server ruft das nicht ab: %s",
		Reason: "Der Grund: %s", HasNot: "Das hat der Server nicht: %s.", HadOnce: "Der Server hatte es einmal und hat es nicht mehr.",
		OnlyUsers: "Der Server gibt es nur an Benutzer mit Namen und Passwort.", NotEverybody: "Der Server gibt es nicht an alle.",
		NotUnderstood: "Der Server versteht diese Adresse nicht.", CannotDo: "Der Server kann nicht, was dafür nötig ist.",
		ServerBusy: "Der Server ist ausgelastet oder hat zu viele Besucher. Versuchen Sie es später noch einmal.",
		Failed:     "Der Server konnte es nicht. Versuchen Sie es später noch einmal.",

		NoneKnown: "Es ist nichts bekannt.",

		InUse: "Er ist in Gebrauch.", Since: "Seit %s.", LeadsTo: "Wohin er führt", NotAnswering: "der Server antwortet zurzeit nicht",
		Related: "Was dazugehört", OtherNames: "Weitere Namen dafür", Cite: "Zum Zitieren", QRCode: "QR-Code dieses Namens",
		OtherFormats: "Für Programme:", Versions: "Wie er war", AllVersions: "Alle Versionen", HowResolved: "Wie er aufgelöst wurde",
		StepByStep: "Schritt für Schritt", AllSteps: "Noch einmal auflösen, mit allen Schritten (JSON)",

		Up: "Aufwärts:", Previous: "Zurück:", Next: "Weiter:", More: "Mehr", Warning: "Warnung", NotAll: "Das ist nicht alles: %s",
		ServerSays: "Was der Server sagt", Words: "Wörter", Search: "Suchen", Open: "%s öffnen",
		Kind: "Art", Name: "Name", Size: "Größe", Changed: "Geändert (UTC)", Entries: "Einträge", Articles: "Artikel",
		UnitEntries: "Einträge", UnitArticles: "Artikel", Octets: "%s Oktette",
		OneEntry: "1 Eintrag", ManyEntries: "%s Einträge", OneGroup: "1 Newsgroup", ManyGroups: "%s Newsgroups", Files: "Dateien",
		EmptyDirectory: "Dieses Verzeichnis ist leer.", EmptyMenu: "Dieses Menü ist leer.", EmptyGroups: "Es gibt keine Newsgroups.",
		EmptyGroup: "Es gibt keine Artikel.", EmptyResults: "Nichts wurde gefunden.",
		Folder: "Ordner", WebPage: "Webseite", Group: "Gruppe", Info: "Text", File: "Datei", Link: "Link", Text: "Text", Image: "Bild",
		Sound: "Ton", Video: "Video", Document: "Dokument", Archive: "Archiv", SearchKind: "Suche", Form: "Formular", Session: "Sitzung",
		Article: "Artikel", Error: "Fehler", Other: "anderes",
	}
}
