internal import CLibCurl

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// One request inside libcurl: its handle, what it sends, and what has come back so far.
///
/// Confined to libcurl's thread. libcurl holds its address as an unowned pointer; the loop keeps it alive until the
/// handle is reset.
final class CurlTransfer {
    let call: CurlMailbox.Call
    let easy: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var head: CurlResponseHead
    private var body: [UInt8] = []
    private let bodyByteCountMax: Int
    private var isTooLarge = false
    private var setUpFailure: CURLcode = CURLE_OK

    init(call: CurlMailbox.Call, easy: UnsafeMutableRawPointer, configuration: HTTPClientConfiguration) {
        self.call = call
        self.easy = easy
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        head = CurlResponseHead(byteCountMax: configuration.responseHeadByteCountMax)
        bodyByteCountMax = call.request.responseBodyByteCountMax ?? configuration.responseBodyByteCountMax
        setUp(configuration)
    }

    deinit {
        curl_slist_free_all(headerList)
        errorText.deallocate()
    }

    /// The transfer a handle belongs to.
    static func of(_ easy: UnsafeMutableRawPointer) -> CurlTransfer? {
        var pointer: UnsafeMutableRawPointer?
        hg_easy_get_pointer(easy, CURLINFO_PRIVATE, &pointer)
        return pointer.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Outcome

    /// What became of the request, once libcurl says it is done.
    func outcome(_ result: CURLcode) -> Result<HTTPClientResponse, HTTPClientError> {
        if isTooLarge {
            let message = "the response is larger than \(bodyByteCountMax) bytes"
            return .failure(HTTPClientError(.responseTooLarge, mayHaveReachedServer: true, message))
        }
        guard result == CURLE_OK else { return .failure(HTTPClientError(evidence(result))) }
        return .success(
            HTTPClientResponse(
                status: long(CURLINFO_RESPONSE_CODE), headers: head.fields, body: body,
                httpVersion: long(CURLINFO_HTTP_VERSION) == CURL_HTTP_VERSION_2_0 ? .http2 : .http1,
                connectionsOpened: long(CURLINFO_NUM_CONNECTS)))
    }

    /// The error of a transfer that is given up before libcurl is done with it.
    func abandoned(_ code: HTTPClientError.Code, _ message: String) -> HTTPClientError {
        HTTPClientError(code, mayHaveReachedServer: evidence(CURLE_OK).mayHaveReachedServer, message)
    }

    private func evidence(_ result: CURLcode) -> HTTPClientError.Evidence {
        var uploaded: curl_off_t = 0
        hg_easy_get_offset(easy, CURLINFO_SIZE_UPLOAD_T, &uploaded)
        return HTTPClientError.Evidence(
            result: result, uploadedByteCount: Int(uploaded), requestHeadByteCount: long(CURLINFO_REQUEST_SIZE),
            bodyByteCount: call.request.body.count, detail: String(cString: errorText))
    }

    private func long(_ info: CURLINFO) -> Int {
        var value = 0
        hg_easy_get_long(easy, info, &value)
        return value
    }

    // MARK: What comes back

    private func receive(head line: UnsafeRawBufferPointer) -> Bool {
        if head.append(line) { return true }
        isTooLarge = true
        return false
    }

    private func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= bodyByteCountMax else {
            isTooLarge = true
            return false
        }
        // Growing step by step would hold a body of megabytes twice.
        if body.isEmpty, let length = head.contentLength { body.reserveCapacity(min(length, bodyByteCountMax)) }
        body.append(contentsOf: bytes)
        return true
    }

    // MARK: Set-up

    private func setUp(_ configuration: HTTPClientConfiguration) {
        hg_easy_set_pointer(easy, CURLOPT_PRIVATE, Unmanaged.passUnretained(self).toOpaque())
        hg_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        setUpConnection(configuration)
        setUpRequest()
        let context = Unmanaged.passUnretained(self).toOpaque()
        hg_easy_set_pointer(easy, CURLOPT_HEADERDATA, context)
        hg_easy_set_pointer(easy, CURLOPT_WRITEDATA, context)
        hg_easy_set_receiver(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            CurlTransfer.deliver(bytes, size * count, context) { $0.receive(head: $1) }
        }
        hg_easy_set_receiver(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            CurlTransfer.deliver(bytes, size * count, context) { $0.receive(body: $1) }
        }
    }

    /// Hands bytes to a transfer and tells libcurl how many were taken; fewer than came ends the transfer.
    private static func deliver(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
        to receiver: (CurlTransfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let context else { return 0 }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        return receiver(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
    }

    private func setUpConnection(_ configuration: HTTPClientConfiguration) {
        // Signals would be delivered to whichever thread happens to run.
        hg_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        hg_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, configuration.allowedSchemes.sorted().joined(separator: ","))
        switch configuration.version {
        case .http1: hg_easy_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        case .http2: hg_easy_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        }
        // Waiting for a connection that is being made beats opening one a request.
        hg_easy_set_long(easy, CURLOPT_PIPEWAIT, configuration.version == .http1 ? 0 : 1)
        if let caFile = configuration.caFile { hg_easy_set_string(easy, CURLOPT_CAINFO, caFile) }
        hg_easy_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, configuration.connectTimeout.curlMilliseconds)
        let lifetime = max(1, Int(configuration.connectionLifetime.components.seconds))
        hg_easy_set_long(easy, CURLOPT_MAXLIFETIME_CONN, lifetime)
        hg_easy_set_long(easy, CURLOPT_TCP_NODELAY, 1)
        hg_easy_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1)
        setUpDeadConnectionDetection(configuration)
    }

    /// Has the kernel end connections whose other side is gone: a dead HTTP/2 connection would otherwise swallow one
    /// request after the other, as a timeout ends only a stream.
    private func setUpDeadConnectionDetection(_ configuration: HTTPClientConfiguration) {
        #if os(Linux)
            let milliseconds = configuration.unacknowledgedTimeout.curlMilliseconds
            hg_easy_set_pointer(easy, CURLOPT_SOCKOPTDATA, UnsafeMutableRawPointer(bitPattern: milliseconds))
            hg_easy_set_socket_callback(easy, CURLOPT_SOCKOPTFUNCTION) { context, socket, _ in
                var milliseconds = UInt32(clamping: Int(bitPattern: context))
                let size = socklen_t(MemoryLayout<UInt32>.size)
                _ = setsockopt(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, size)
                return CURL_SOCKOPT_OK
            }
        #endif
    }

    private func setUpRequest() {
        let request = call.request
        hg_easy_set_string(easy, CURLOPT_URL, request.url)
        hg_easy_set_long(easy, CURLOPT_TIMEOUT_MS, request.timeout.curlMilliseconds)
        switch request.method {
        case "GET" where request.body.isEmpty: hg_easy_set_long(easy, CURLOPT_HTTPGET, 1)
        case "HEAD": hg_easy_set_long(easy, CURLOPT_NOBODY, 1)
        case "DELETE" where request.body.isEmpty, "OPTIONS" where request.body.isEmpty:
            hg_easy_set_string(easy, CURLOPT_CUSTOMREQUEST, request.method)
        default:
            hg_easy_set_long(easy, CURLOPT_POST, 1)
            hg_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count))
            // The size comes first: libcurl copies that many bytes now.
            request.body.withUnsafeBytes { _ = hg_easy_set_data(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
            if request.method != "POST" { hg_easy_set_string(easy, CURLOPT_CUSTOMREQUEST, request.method) }
        }
        var lines: [String] = []
        if let signature = request.awsSignature {
            hg_easy_set_string(easy, CURLOPT_AWS_SIGV4, signature.scope)
            hg_easy_set_string(easy, CURLOPT_USERNAME, signature.accessKeyID)
            hg_easy_set_string(easy, CURLOPT_PASSWORD, signature.secretAccessKey)
        } else {
            // Without these lines libcurl adds headers of its own; with them it would sign what it does not send.
            lines.append("Expect:")
            let names = Set(request.headers.map { $0.name.lowercased() })
            if !names.contains("content-type") { lines.append("Content-Type:") }
            if !names.contains("accept") { lines.append("Accept: */*") }
        }
        lines += request.headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        for line in lines { headerList = curl_slist_append(headerList, line) }
        hg_easy_set_list(easy, CURLOPT_HTTPHEADER, headerList)
    }
}
