internal import CLibCurl
internal import HTTPClient

/// Owns an easy handle of libcurl, and with it a connection that is kept for the next mail. Confined to its thread, which it blocks.
struct SMTPHandle: ~Copyable {
    private let easy: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private let configuration: SMTPConfiguration

    /// The age of an unused connection at which it is replaced, in seconds; servers close theirs after some minutes.
    private static let maxIdleSeconds = 60
    /// The time limit of connecting, TLS included.
    private static let connectTimeout = Duration.seconds(10)
    /// The time that sent bytes may stay unacknowledged before the connection counts as dead.
    private static let unacknowledgedTimeout = Duration.seconds(10)

    /// Makes a handle; nil when out of memory.
    init?(_ configuration: SMTPConfiguration) {
        guard CurlLibrary.isReady, let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.configuration = configuration
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    /// Sends QUIT and closes the connection; blocks until the server has answered, or for the time limit of libcurl.
    deinit {
        curl_easy_cleanup(easy)
        errorText.deallocate()
    }

    /// Sends a mail; returns when the server has taken or refused it, at the job's deadline, or after `isAbandoned` became true.
    func send(_ job: SMTPJob, isAbandoned: @escaping () -> Bool) -> SMTPEvidence {
        let transfer = SMTPTransfer(body: job.body, silenceLimit: configuration.silenceLimit, isAbandoned: isAbandoned)
        var recipients: UnsafeMutablePointer<curl_slist>?
        defer {
            // The connection stays with the handle; pointers to the transfer do not.
            curl_easy_reset(easy)
            curl_slist_free_all(recipients)
        }
        errorText[0] = 0
        recipients = curl_slist_append(nil, job.recipient)
        setUpConnection(timeout: job.deadline - .now)
        setUpMail(recipients, byteCount: job.body.count)
        setUpCallbacks(transfer)
        let result = withExtendedLifetime(transfer) { curl_easy_perform(easy) }
        var (reply, connects) = (0, 0)
        hg_easy_get_long(easy, CURLINFO_RESPONSE_CODE, &reply)
        hg_easy_get_long(easy, CURLINFO_NUM_CONNECTS, &connects)
        return SMTPEvidence(
            result: result, reply: reply, step: transfer.step, detail: String(cString: errorText), isReused: connects == 0,
            isSilent: transfer.isSilent, takesInternationalAddresses: transfer.takesInternationalAddresses)
    }

    private func setUpConnection(timeout: Duration) {
        hg_easy_set_string(easy, CURLOPT_PROTOCOLS_STR, "smtp,smtps")
        hg_easy_set_string(easy, CURLOPT_URL, configuration.url)
        hg_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        hg_easy_set_long(easy, CURLOPT_TIMEOUT_MS, timeout.curlMilliseconds)
        hg_easy_set_long(easy, CURLOPT_MAXAGE_CONN, Self.maxIdleSeconds)
        CurlLibrary.setUpConnection(
            easy, caFile: configuration.caFile, connectTimeout: Self.connectTimeout, unacknowledgedTimeout: Self.unacknowledgedTimeout)
        let isRequired = configuration.tls == .required
        hg_easy_set_long(easy, CURLOPT_USE_SSL, Int((isRequired ? CURLUSESSL_ALL : CURLUSESSL_NONE).rawValue))
        hg_easy_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        if let username = configuration.username, let password = configuration.password {
            hg_easy_set_string(easy, CURLOPT_USERNAME, username)
            hg_easy_set_string(easy, CURLOPT_PASSWORD, password)
        }
    }

    private func setUpMail(_ recipients: UnsafeMutablePointer<curl_slist>?, byteCount: Int) {
        hg_easy_set_string(easy, CURLOPT_MAIL_FROM, configuration.from.address)
        hg_easy_set_list(easy, CURLOPT_MAIL_RCPT, recipients)
        hg_easy_set_long(easy, CURLOPT_UPLOAD, 1)
        hg_easy_set_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(byteCount))
    }

    private func setUpCallbacks(_ transfer: SMTPTransfer) {
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        hg_easy_set_pointer(easy, CURLOPT_READDATA, context)
        hg_easy_set_receiver(easy, CURLOPT_READFUNCTION) { buffer, size, count, context in
            SMTPTransfer.of(context)?.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size * count)) ?? 0
        }
        // Without a receiver libcurl would write to the standard output.
        hg_easy_set_receiver(easy, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count }
        hg_easy_set_pointer(easy, CURLOPT_XFERINFODATA, context)
        hg_easy_set_progress_callback(easy, CURLOPT_XFERINFOFUNCTION) { context, _, _, _, _ in
            SMTPTransfer.of(context)?.mustAbort() ?? false ? 1 : 0
        }
        hg_easy_set_long(easy, CURLOPT_NOPROGRESS, 0)
        hg_easy_set_pointer(easy, CURLOPT_DEBUGDATA, context)
        hg_easy_set_debug_callback(easy, CURLOPT_DEBUGFUNCTION) { _, kind, bytes, count, context in
            switch kind {
            case CURLINFO_HEADER_OUT: SMTPTransfer.of(context)?.sent(UnsafeRawBufferPointer(start: bytes, count: count))
            case CURLINFO_HEADER_IN: SMTPTransfer.of(context)?.heard(UnsafeRawBufferPointer(start: bytes, count: count))
            default: break
            }
            return 0
        }
        // Turns the debug function on, and nothing else.
        hg_easy_set_long(easy, CURLOPT_VERBOSE, 1)
    }
}
