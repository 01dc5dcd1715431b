internal import FoundationEssentials
internal import Instrumentation
public import Logging
import WireFormat

extension Logger.MetadataProvider {
    /// Adds `request_id`, `trace_id` and `message_id` to each log line, as far as they are known in the task.
    public static let work = Logger.MetadataProvider {
        let work = WorkContext.current
        var metadata: Logger.Metadata = [:]
        if let requestID = work?.requestID { metadata["request_id"] = "\(requestID)" }
        if let parent = InstrumentationContext.current?.traceParent ?? work?.traceparent.flatMap(TraceParent.init) {
            metadata["trace_id"] = "\(parent.traceID)"
        }
        if let messageID = work?.messageID { metadata["message_id"] = "\(messageID.wireString)" }
        return metadata
    }
}
