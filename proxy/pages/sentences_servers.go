package pages

// serverSentences are what failed between urnd and another server: package problem has them in English.
func serverSentences() []sentence {
	return []sentence{
		{
			"the DNS does not tell the address of the host in time", "das DNS nennt die Adresse des Hosts nicht rechtzeitig",
			"le DNS ne donne pas l’adresse de l’hôte à temps", "el DNS no da a tiempo la dirección del host", "DNS 未及时给出主机地址",
		},
		{"there is no such host", "diesen Host gibt es nicht", "cet hôte n’existe pas", "este host no existe", "没有此主机"},
		{
			"the DNS does not tell the address of the host", "das DNS nennt die Adresse des Hosts nicht", "le DNS ne donne pas l’adresse de l’hôte",
			"el DNS no da la dirección del host", "DNS 未给出主机地址",
		},
		{"the DNS gives no answer in time", "das DNS antwortet nicht rechtzeitig", "le DNS ne répond pas à temps", "el DNS no responde a tiempo", "DNS 未及时应答"},
		{"the DNS gives no answer", "das DNS antwortet nicht", "le DNS ne répond pas", "el DNS no responde", "DNS 没有应答"},
		{
			"the certificate of the server is for another host", "das Zertifikat des Servers gilt für einen anderen Host",
			"le certificat du serveur est celui d’un autre hôte", "el certificado del servidor es de otro host", "服务器的证书属于另一台主机",
		},
		{
			"the certificate of the server is of an authority that is not trusted", "das Zertifikat des Servers ist von einer Stelle, der nicht vertraut wird",
			"le certificat du serveur vient d’une autorité à laquelle on ne fait pas confiance", "el certificado del servidor es de una autoridad en la que no se confía",
			"服务器的证书来自不受信任的机构",
		},
		{
			"the certificate of the server has expired, or is not valid yet", "das Zertifikat des Servers ist abgelaufen oder gilt noch nicht",
			"le certificat du serveur a expiré, ou n’est pas encore valable", "el certificado del servidor ha caducado o todavía no es válido", "服务器的证书已过期或尚未生效",
		},
		{
			"the certificate of the server is not valid", "das Zertifikat des Servers ist ungültig", "le certificat du serveur n’est pas valable",
			"el certificado del servidor no es válido", "服务器的证书无效",
		},
		{
			"the server refuses the TLS handshake", "der Server lehnt den TLS-Handshake ab", "le serveur refuse la négociation TLS",
			"el servidor rechaza la negociación TLS", "服务器拒绝 TLS 握手",
		},
		{"the server does not speak TLS", "der Server spricht kein TLS", "le serveur ne parle pas TLS", "el servidor no habla TLS", "服务器不使用 TLS"},
		{
			"the server refuses the connection", "der Server lehnt die Verbindung ab", "le serveur refuse la connexion", "el servidor rechaza la conexión",
			"服务器拒绝连接",
		},
		{
			"there is no route to the server", "es gibt keinen Weg zum Server", "il n’y a pas de route vers le serveur", "no hay ruta al servidor",
			"没有到服务器的路由",
		},
		{
			"the server does not accept the connection in time", "der Server nimmt die Verbindung nicht rechtzeitig an",
			"le serveur n’accepte pas la connexion à temps", "el servidor no acepta la conexión a tiempo", "服务器未及时接受连接",
		},
		{
			"the server does not answer in time", "der Server antwortet nicht rechtzeitig", "le serveur ne répond pas à temps",
			"el servidor no responde a tiempo", "服务器未及时应答",
		},
		{
			"the server broke the connection off", "der Server hat die Verbindung abgebrochen", "le serveur a rompu la connexion",
			"el servidor ha cortado la conexión", "服务器中断了连接",
		},
		{
			"the response of the server is not complete", "die Antwort des Servers ist unvollständig", "la réponse du serveur est incomplète",
			"la respuesta del servidor está incompleta", "服务器的应答不完整",
		},
		{
			"the server closed the connection without an answer", "der Server hat die Verbindung ohne Antwort geschlossen",
			"le serveur a fermé la connexion sans répondre", "el servidor ha cerrado la conexión sin responder", "服务器未应答就关闭了连接",
		},
		{
			"the server gives no usable answer", "der Server gibt keine brauchbare Antwort", "le serveur ne donne pas de réponse utilisable",
			"el servidor no da una respuesta utilizable", "服务器没有给出可用的应答",
		},
		{
			"the response of the origin is not valid", "die Antwort des Servers ist ungültig", "la réponse du serveur n’est pas valide",
			"la respuesta del servidor no es válida", "源服务器的应答无效",
		},
		{
			"the upstream proxy gave no way to the server", "der vorgelagerte Proxy gab keinen Weg zum Server frei", "le proxy en amont n’a pas donné accès au serveur",
			"el proxy anterior no dio acceso al servidor", "上游代理未提供到服务器的通路",
		},
		{
			"the server did not answer", "der Server hat nicht geantwortet", "le serveur n’a pas répondu", "el servidor no ha respondido", "服务器没有应答",
		},
		{
			"only GET and HEAD are supported for this scheme", "für dieses Schema werden nur GET und HEAD unterstützt",
			"seules GET et HEAD sont prises en charge pour ce schéma", "para este esquema solo se admiten GET y HEAD", "此方案只支持 GET 和 HEAD",
		},
		{"port not allowed", "dieser Port ist nicht erlaubt", "ce port n’est pas autorisé", "este puerto no está permitido", "不允许使用此端口"},
		{"this scheme is turned off", "dieses Schema ist abgeschaltet", "ce schéma est désactivé", "este esquema está desactivado", "此方案已关闭"},
		{"scheme not supported", "dieses Schema wird nicht unterstützt", "ce schéma n’est pas pris en charge", "este esquema no se admite", "不支持此方案"},
		{
			"the body of the request could not be read", "der Inhalt der Anfrage konnte nicht gelesen werden", "le contenu de la requête n’a pas pu être lu",
			"no se ha podido leer el contenido de la petición", "无法读取请求的内容",
		},
		{
			"the origin answered 304 (Not Modified) to a request without a condition", "der Server hat auf eine Anfrage ohne Bedingung mit 304 (Not Modified) geantwortet",
			"le serveur a répondu 304 (Not Modified) à une requête sans condition", "el servidor ha respondido 304 (Not Modified) a una petición sin condición",
			"源服务器对无条件请求应答了 304 (Not Modified)",
		},
		{
			"there is no stored response that can be used, and the client asks for no other one",
			"es gibt keine gespeicherte Antwort, die verwendet werden kann, und der Client verlangt keine andere",
			"il n’y a pas de réponse enregistrée qui puisse servir, et le client n’en demande pas d’autre",
			"no hay ninguna respuesta guardada que se pueda usar, y el cliente no pide otra", "没有可用的已存储应答，而客户端不要求其他应答",
		},
		{
			"a rule of the site denies this request", "eine Regel der Website verbietet diese Anfrage", "une règle du site interdit cette requête",
			"una regla del sitio prohíbe esta petición", "站点的一条规则禁止此请求",
		},
		{
			"a port is between 0 and 65535", "ein Port liegt zwischen 0 und 65535", "un port est compris entre 0 et 65535", "un puerto está entre 0 y 65535",
			"端口介于 0 和 65535 之间",
		},
	}
}
