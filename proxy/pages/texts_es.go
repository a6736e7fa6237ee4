package pages

func spanish() texts {
	return texts{
		Colon: ": ", Skip: "Ir al contenido", Start: "Inicio", Main: "Este sitio", Languages: "Idioma", Contact: "Contacto", Imprint: "Aviso legal",
		Privacy: "Privacidad", Where: "Dónde está esto",

		Welcome:   "Este servidor resuelve nombres: redirige a la ubicación del recurso que un URN nombra.",
		FormLabel: "Un URN, un URL, un ISBN, un ISSN o un DOI:", LookUp: "Buscar",
		Append:   "O añádalo a la dirección de este servidor, como en %s.",
		Examples: "Ejemplos", Gateways: "Los archivos, menús, artículos y registros de servidores FTP, Gopher, News y de bibliotecas están en %s.",
		Namespaces: "Espacios de nombres", NamespacesLead: "Una regla de este servidor dice adónde llevan los nombres de estos espacios:",
		NamespacesKnown: "Conoce cómo se escriben los nombres de todos los espacios registrados, que son %s.",

		FetchTitle: "Obtener un URL",
		FetchSays:  "Este servidor obtiene lo que los navegadores ya no pueden: archivos, menús, artículos y registros, y los muestra como páginas.",
		FetchLabel: "Un URL de ftp, gopher, news, nntp, wais, telnet o de la web:", Fetch: "Obtener",

		NotValid: "Este nombre no es válido", NameNotFound: "No se ha encontrado este nombre", AddressNotFound: "No se ha encontrado esta dirección",
		NameGone: "Este nombre ya no se usa", AddressGone: "Esta dirección ya no se usa", NotNow: "Este nombre no se puede resolver ahora",
		Reserved:   "Está reservado y todavía no lleva a ninguna parte.",
		NoResource: "La entidad a la que pertenece no tiene ningún recurso para él.",
		NoAddress:  "No hay nada registrado en esta dirección. Puede estar mal escrita, o el enlace que lleva aquí es erróneo.",
		Nobody:     "Nadie a quien este servidor pueda preguntar lo conoce.", OwnerWithdrew: "Su propietario lo ha retirado.",
		NoAnswer: "Un servidor al que hay que preguntar no responde. Inténtelo más tarde.",
		Busy:     "El servidor está ocupado. Inténtelo de nuevo en un momento.", CannotLookUp: "Este servidor no puede buscarlo.",
		AtMark: "Error en el carácter marcado: %s", EndOfInput: "el final",
		OpenThis:  "¿Quiere abrir esto?",
		Led:       "Puede que otra página le haya traído aquí. Abra %s solo si confía en lo que se envía entonces a un servidor.",
		Withdrawn: "Retirado el %s", Instead: "En su lugar:", Questions: "Preguntas: %s",
		Sandbox: "Este nombre es de prueba y puede ser eliminado.", DidYouMean: "¿Quería decir %s?", Details: "Detalles",
		Status: "Estado %s.", Octet: "Octeto %s.",

		Unreached: "No se puede acceder: %s", NoSuch: "No existe: %s", PasswordNeeded: "Se necesita una contraseña",
		Refuses:       "El servidor se niega",
		ProxyNoAnswer: "El proxy que está en el camino a este sitio no ha recibido respuesta de él: %s",
		ProxyBusy:     "El proxy que está en el camino a este sitio está ocupado. Inténtelo de nuevo en un momento.",
		ProxyRefused:  "El proxy que está en el camino a este sitio no ha transmitido la petición: %s",
		FetchNoAnswer: "No se puede acceder a su servidor, o no responde como debería: %s",
		FetchBusy:     "Este servidor está ocupado. Inténtelo de nuevo en un momento.", FetchRefused: "Este servidor no lo obtiene: %s",
		Reason: "El motivo: %s", HasNot: "El servidor no lo tiene: %s.", HadOnce: "El servidor lo tuvo, y ya no lo tiene.",
		OnlyUsers: "El servidor solo lo da a usuarios con nombre y contraseña.", NotEverybody: "El servidor no lo da a todo el mundo.",
		NotUnderstood: "El servidor no entiende esta dirección.", CannotDo: "El servidor no puede hacer lo que se necesita para ello.",
		ServerBusy: "El servidor está ocupado, o tiene demasiados visitantes. Inténtelo más tarde.",
		Failed:     "El servidor no ha podido hacerlo. Inténtelo más tarde.",

		NoneKnown: "No se conoce ninguno.",

		InUse: "Está en uso.", Since: "Desde el %s.", LeadsTo: "Adónde lleva", NotAnswering: "su servidor no responde ahora",
		Related: "Lo que le pertenece", OtherNames: "Otros nombres suyos", Cite: "Para citarlo", QRCode: "Código QR de este nombre",
		OtherFormats: "Para programas:", Versions: "Cómo era", AllVersions: "Todas las versiones", HowResolved: "Cómo se resolvió",
		StepByStep: "Paso a paso", AllSteps: "Resolverlo de nuevo, con todos los pasos (JSON)",

		Up: "Arriba:", Previous: "Anterior:", Next: "Siguiente:", More: "Más", Warning: "Advertencia", NotAll: "Esto no es todo: %s",
		ServerSays: "Lo que dice el servidor", Words: "Palabras", Search: "Buscar", Open: "Abrir %s",
		Kind: "Tipo", Name: "Nombre", Size: "Tamaño", Changed: "Modificado (UTC)", Entries: "Entradas", Articles: "Artículos",
		UnitEntries: "entradas", UnitArticles: "artículos", Octets: "%s octetos",
		OneEntry: "1 entrada", ManyEntries: "%s entradas", OneGroup: "1 grupo de noticias", ManyGroups: "%s grupos de noticias", Files: "Archivos",
		EmptyDirectory: "Este directorio está vacío.", EmptyMenu: "Este menú está vacío.", EmptyGroups: "No hay grupos de noticias.",
		EmptyGroup: "No hay artículos.", EmptyResults: "No se ha encontrado nada.",
		Folder: "carpeta", WebPage: "página web", Group: "grupo", Info: "texto", File: "archivo", Link: "enlace", Text: "texto", Image: "imagen",
		Sound: "sonido", Video: "vídeo", Document: "documento", Archive: "archivador", SearchKind: "búsqueda", Form: "formulario", Session: "sesión",
		Article: "artículo", Error: "error", Other: "otro",
	}
}
