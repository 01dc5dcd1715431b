internal import CLibCurl

/// An easy handle of libcurl with the call it serves and the part of the response received so far.
///
/// It is reused for one request after another. Confined to libcurl's thread. libcurl holds its address as an unowned pointer;
/// the loop keeps it alive as long as the handle.
final class CurlTransfer {
    let easy: UnsafeMutableRawPointer
    private(set) var call: CurlMailbox.PostedCall?
    private let configuration: HTTPClientConfiguration
    private let connectionSeconds: Int
    private let errorText: UnsafeMutablePointer<CChar>
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var head: CurlResponseHead
    private var body: [UInt8] = []
    private var maxBodyByteCount = 0
    private var isTooLarge = false
    var progress = Progress(since: .now)

    /// Makes an idle handle; nil when out of memory.
    ///
    /// - Parameter connectionSeconds: The greatest age of a connection that is reused, in seconds.
    init?(configuration: HTTPClientConfiguration, connectionSeconds: Int) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.configuration = configuration
        self.connectionSeconds = connectionSeconds
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        head = CurlResponseHead(maxByteCount: configuration.maxResponseHeadByteCount)
    }

    deinit {
        curl_easy_cleanup(easy)
        curl_slist_free_all(headerList)
        errorText.deallocate()
    }

    /// Returns the transfer that owns a handle.
    static func of(_ easy: UnsafeMutableRawPointer) -> CurlTransfer? {
        var pointer: UnsafeMutableRawPointer?
        hg_easy_get_pointer(easy, CURLINFO_PRIVATE, &pointer)
        return pointer.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Sets the handle up for a call.
    ///
    /// - Parameter maxIdleSeconds: The time without a use after which a connection is not used again.
    func begin(_ call: CurlMailbox.PostedCall, maxIdleSeconds: Int) {
        self.call = call
        progress = Progress(since: .now)
        hg_easy_set_long(easy, CURLOPT_MAXAGE_CONN, maxIdleSeconds)
        maxBodyByteCount = call.request.maxResponseBodyByteCount ?? configuration.maxResponseBodyByteCount
        setUpReceivers()
        setUpConnection()
        setUpRequest(call.request)
        setUpBody(call.request)
    }

    /// Resets the handle after a call, including libcurl's copy of the body; the connection stays with the multi handle.
    func end() {
        curl_easy_reset(easy)
        curl_slist_free_all(headerList)
        headerList = nil
        call = nil
        body = []
        isTooLarge = false
        head.removeAll()
        errorText[0] = 0
    }

    // MARK: Outcome

    /// Returns the result of the request, once libcurl reports that it is done.
    func outcome(_ result: CURLcode) -> Result<HTTPClientResponse, HTTPClientError> {
        if isTooLarge {
            let message = "the response is larger than \(maxBodyByteCount) bytes"
            return .failure(HTTPClientError(.responseTooLarge, mayHaveReachedServer: true, message))
        }
        guard result == CURLE_OK else { return .failure(HTTPClientError(evidence(result))) }
        return .success(
            HTTPClientResponse(
                status: long(CURLINFO_RESPONSE_CODE), headers: head.fields, body: body,
                httpVersion: long(CURLINFO_HTTP_VERSION) == CURL_HTTP_VERSION_2_0 ? .http2 : .http1,
                connectionsOpened: long(CURLINFO_NUM_CONNECTS)))
    }

    /// Returns the error of a transfer that is abandoned before libcurl is done with it.
    func abandoned(_ code: HTTPClientError.Code, _ message: String) -> HTTPClientError {
        HTTPClientError(code, mayHaveReachedServer: evidence(CURLE_OK).mayHaveReachedServer, message)
    }

    private func evidence(_ result: CURLcode) -> HTTPClientError.Evidence {
        var uploaded: curl_off_t = 0
        hg_easy_get_offset(easy, CURLINFO_SIZE_UPLOAD_T, &uploaded)
        return HTTPClientError.Evidence(
            result: result, uploadedByteCount: Int(uploaded), requestHeadByteCount: long(CURLINFO_REQUEST_SIZE),
            bodyByteCount: call?.request.body.count ?? 0, detail: String(cString: errorText))
    }

    func long(_ info: CURLINFO) -> Int {
        var value = 0
        hg_easy_get_long(easy, info, &value)
        return value
    }

    // MARK: Response

    private func receive(head line: UnsafeRawBufferPointer) -> Bool {
        if head.append(line) { return true }
        isTooLarge = true
        return false
    }

    private func receive(body bytes: UnsafeRawBufferPointer) -> Bool {
        guard body.count + bytes.count <= maxBodyByteCount else {
            isTooLarge = true
            return false
        }
        // Growing the array step by step would hold a body of megabytes twice.
        if body.isEmpty, let length = head.contentLength { body.reserveCapacity(min(length, maxBodyByteCount)) }
        body.append(contentsOf: bytes)
        return true
    }

    // MARK: Set-up

    private func setUpReceivers() {
        let context = Unmanaged.passUnretained(self).toOpaque()
        hg_easy_set_pointer(easy, CURLOPT_PRIVATE, context)
        hg_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        hg_easy_set_pointer(easy, CURLOPT_HEADERDATA, context)
        hg_easy_set_pointer(easy, CURLOPT_WRITEDATA, context)
        hg_easy_set_receiver(easy, CURLOPT_HEADERFUNCTION) { bytes, size, count, context in
            CurlTransfer.deliver(bytes, size * count, context) { $0.receive(head: $1) }
        }
        hg_easy_set_receiver(easy, CURLOPT_WRITEFUNCTION) { bytes, size, count, context in
            CurlTransfer.deliver(bytes, size * count, context) { $0.receive(body: $1) }
        }
    }

    /// Passes bytes to a transfer and returns how many were taken; libcurl aborts the transfer when that is fewer than it passed.
    private static func deliver(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
        to receiver: (CurlTransfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let context else { return 0 }
        let transfer = Unmanaged<CurlTransfer>.fromOpaque(context).takeUnretainedValue()
        return receiver(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
    }

    private func setUpConnection() {
        hg_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, configuration.allowedSchemes.sorted().joined(separator: ","))
        switch configuration.version {
        case .http1: hg_easy_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1)
        case .http2: hg_easy_set_long(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        }
        // Waits for a connection that is being made, rather than opening one per request.
        hg_easy_set_long(easy, CURLOPT_PIPEWAIT, configuration.version == .http1 ? 0 : 1)
        hg_easy_set_long(easy, CURLOPT_MAXLIFETIME_CONN, connectionSeconds)
        CurlLibrary.setUpConnection(
            easy, caFile: configuration.caFile, connectTimeout: configuration.connectTimeout,
            unacknowledgedTimeout: configuration.unacknowledgedTimeout)
    }

    private func setUpRequest(_ request: HTTPClientRequest) {
        hg_easy_set_string(easy, CURLOPT_URL, request.url)
        hg_easy_set_long(easy, CURLOPT_TIMEOUT_MS, request.timeout.curlMilliseconds)
        switch request.method {
        case "GET" where request.body.isEmpty: hg_easy_set_long(easy, CURLOPT_HTTPGET, 1)
        case "HEAD": hg_easy_set_long(easy, CURLOPT_NOBODY, 1)
        case "DELETE" where request.body.isEmpty, "OPTIONS" where request.body.isEmpty:
            hg_easy_set_string(easy, CURLOPT_CUSTOMREQUEST, request.method)
        default:
            hg_easy_set_long(easy, CURLOPT_POST, 1)
            if request.method != "POST" { hg_easy_set_string(easy, CURLOPT_CUSTOMREQUEST, request.method) }
        }
        if let signature = request.awsSignature {
            hg_easy_set_string(easy, CURLOPT_AWS_SIGV4, signature.scope)
            hg_easy_set_string(easy, CURLOPT_USERNAME, signature.accessKeyID)
            hg_easy_set_string(easy, CURLOPT_PASSWORD, signature.secretAccessKey)
        }
        for line in request.headerLines { headerList = curl_slist_append(headerList, line) }
        hg_easy_set_list(easy, CURLOPT_HTTPHEADER, headerList)
    }

    private func setUpBody(_ request: HTTPClientRequest) {
        switch request.method {
        case "HEAD": return
        case "GET", "DELETE", "OPTIONS": if request.body.isEmpty { return }
        default: break
        }
        hg_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(request.body.count))
        // The size must be set first: the next option copies that many bytes.
        request.body.withUnsafeBytes { _ = hg_easy_set_data(easy, CURLOPT_COPYPOSTFIELDS, $0.baseAddress) }
    }
}

extension HTTPClientRequest {
    /// The header lines in the form that libcurl takes.
    fileprivate var headerLines: [String] {
        var lines: [String] = []
        if awsSignature == nil {
            // These lines suppress headers that libcurl adds. They are left out of a signed request, as libcurl would sign them too.
            lines.append("Expect:")
            let names = Set(headers.map { $0.name.lowercased() })
            if !names.contains("content-type") { lines.append("Content-Type:") }
            if !names.contains("accept") { lines.append("Accept: */*") }
        }
        return lines + headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
    }
}
