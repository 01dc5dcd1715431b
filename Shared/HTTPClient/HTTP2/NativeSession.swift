internal import CNGHTTP2

/// An nghttp2 client session of one connection: takes received bytes, calls ``SessionCallbacks``, and produces output.
struct NativeSession: ~Copyable {
    /// An nghttp2 error that ends the connection.
    struct Fault: Error {
        let reason: String

        init(_ code: Int) { reason = String(cString: nghttp2_strerror(Int32(clamping: code))) }
    }

    /// The receive window of the connection, in bytes; large enough that the small responses never wait for it.
    private static let connectionWindow: Int32 = 16 * 1024 * 1024
    /// The initial window of the protocol, in bytes.
    private static let initialWindow = 65_535

    private let pointer: OpaquePointer

    /// Makes a session whose first output is the client preface; nil when out of memory.
    init?(configuration: HTTP2ClientConfiguration) {
        guard let pointer = Self.makePointer(configuration) else { return nil }
        self.pointer = pointer
    }

    deinit { nghttp2_session_del(pointer) }

    private static func makePointer(_ configuration: HTTP2ClientConfiguration) -> OpaquePointer? {
        guard let callbacks = SessionCallbacks.make() else { return nil }
        defer { nghttp2_session_callbacks_del(callbacks) }
        var options: OpaquePointer?
        guard nghttp2_option_new(&options) == 0 else { return nil }
        defer { nghttp2_option_del(options) }
        // A client has no use for closed streams.
        nghttp2_option_set_no_closed_streams(options, 1)
        var pointer: OpaquePointer?
        guard nghttp2_session_client_new2(&pointer, callbacks, nil, options) == 0 else { return nil }
        let settings = [
            setting(NGHTTP2_SETTINGS_ENABLE_PUSH, 0),
            setting(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, max(initialWindow, configuration.maxResponseBodyByteCount)),
            setting(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, configuration.maxResponseHeadByteCount),
        ]
        let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)
        if nghttp2_submit_settings(pointer, flags, settings, settings.count) == 0,
            nghttp2_session_set_local_window_size(pointer, flags, 0, connectionWindow) == 0
        {
            return pointer
        }
        nghttp2_session_del(pointer)
        return nil
    }

    private static func setting(_ id: nghttp2_settings_id, _ value: Int) -> nghttp2_settings_entry {
        nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: UInt32(clamping: value))
    }

    /// Sets the connection that receives the callbacks; it must outlive the session.
    func attach(_ connection: HTTP2Connection) {
        nghttp2_session_set_user_data(pointer, Unmanaged.passUnretained(connection).toOpaque())
    }

    /// The most concurrent streams that the server allows.
    var maxRemoteStreams: Int {
        Int(nghttp2_session_get_remote_settings(pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    /// Whether the session neither reads nor writes any more.
    var isDone: Bool { nghttp2_session_want_read(pointer) == 0 && nghttp2_session_want_write(pointer) == 0 }

    /// Processes bytes received from the server.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(Fault) {
        let result = nghttp2_session_mem_recv(pointer, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        if result < 0 { throw Fault(result) }
    }

    /// Returns the next bytes for the server, at most one frame, or an empty buffer. They are valid until the next call.
    func nextOutput() throws(Fault) -> UnsafeRawBufferPointer {
        var bytes: UnsafePointer<UInt8>?
        let count = nghttp2_session_mem_send(pointer, &bytes)
        if count < 0 { throw Fault(count) }
        return UnsafeRawBufferPointer(start: bytes, count: count)
    }

    /// Opens a stream; nghttp2 fetches the body, if there is one, by a callback.
    ///
    /// - Returns: The stream id, or nil when this session opens no more streams.
    func open(_ fields: HeaderFields, hasBody: Bool, slot: Int) -> Int32? {
        let slot = SessionCallbacks.userData(slot: slot)
        let stream = fields.withNativeFields { fields in
            guard hasBody else { return nghttp2_submit_request(pointer, nil, fields.baseAddress, fields.count, nil, slot) }
            var body = SessionCallbacks.bodyProvider
            return nghttp2_submit_request(pointer, nil, fields.baseAddress, fields.count, &body, slot)
        }
        return stream > 0 ? stream : nil
    }

    /// Resets a stream with CANCEL.
    func reset(_ stream: Int32) {
        nghttp2_submit_rst_stream(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream, NGHTTP2_CANCEL.rawValue)
    }

    /// Sends a PING.
    func ping() { nghttp2_submit_ping(pointer, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil) }

    /// Sends GOAWAY and ends the session.
    func goAway() { nghttp2_session_terminate_session(pointer, NGHTTP2_NO_ERROR.rawValue) }
}
