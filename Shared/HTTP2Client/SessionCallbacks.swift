internal import CNGHTTP2

/// Passes what nghttp2 says on to the connection of the session.
///
/// nghttp2 calls them only from within `receive` and `nextOutput`, so on the client's thread, and while its connection,
/// which makes these calls, lives.
enum SessionCallbacks {
    /// What nghttp2 asks for the bytes of a body.
    static var bodyProvider: nghttp2_data_provider {
        nghttp2_data_provider(source: nghttp2_data_source(ptr: nil)) { session, stream, buffer, capacity, flags, _, context in
            let room = UnsafeMutableRawBufferPointer(start: buffer, count: capacity)
            guard let context, let flags, let slot = SessionCallbacks.slot(session, stream),
                let piece = SessionCallbacks.connection(context).readBody(slot: slot, into: room)
            else { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
            if piece.isLast { flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
            return piece.byteCount
        }
    }

    /// What a stream is known by to nghttp2: its slot, from 1 on, as 0 means none.
    static func userData(slot: Int) -> UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: slot + 1) }

    /// Makes the table that a session is made with; whoever calls frees it.
    static func make() -> OpaquePointer? {
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0, let callbacks else { return nil }
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { session, frame, context in
            guard let context, let frame else { return 0 }
            SessionCallbacks.connection(context).headBegan(
                slot: SessionCallbacks.slot(session, hg_frame_head(frame).pointee.stream_id))
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, _, name, nameCount, value, valueCount, _, context in
            guard let context else { return 0 }
            SessionCallbacks.connection(context).headContinued(
                name: UnsafeBufferPointer(start: name, count: nameCount),
                value: UnsafeBufferPointer(start: value, count: valueCount))
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { session, _, stream, bytes, count, context in
            guard let context, let slot = SessionCallbacks.slot(session, stream) else { return 0 }
            SessionCallbacks.connection(context).bodyCame(slot: slot, UnsafeBufferPointer(start: bytes, count: count))
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { session, stream, code, context in
            guard let context, let slot = SessionCallbacks.slot(session, stream) else { return 0 }
            let isComplete = nghttp2_session_get_stream_remote_close(session, stream) == 1
            SessionCallbacks.connection(context).streamClosed(slot: slot, code: code, isComplete: isComplete)
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
            guard let context, let frame else { return 0 }
            let head = hg_frame_head(frame).pointee
            switch UInt32(head.type) {
            case NGHTTP2_SETTINGS.rawValue: SessionCallbacks.connection(context).settingsCame()
            case NGHTTP2_GOAWAY.rawValue: SessionCallbacks.connection(context).goAwayCame(code: frame.pointee.goaway.error_code)
            default: break
            }
            return 0
        }
        return callbacks
    }

    private static func connection(_ context: UnsafeMutableRawPointer) -> HTTP2Connection {
        Unmanaged<HTTP2Connection>.fromOpaque(context).takeUnretainedValue()
    }

    private static func slot(_ session: OpaquePointer?, _ stream: Int32) -> Int? {
        nghttp2_session_get_stream_user_data(session, stream).map { Int(bitPattern: $0) - 1 }
    }
}
