import Foundation

@testable import MobileClient

extension UploadWorld {
    /// What must hold at every moment.
    var violation: String? {
        if let fault { return fault }
        for (index, order) in orders.enumerated() {
            if order.reports > 1 { return "order \(index) is reported twice in a process" }
            if order.record == .open, !order.hasFile { return "order \(index) is open and has no file" }
            let running = tasks.filter { $0.order == index && $0.outcome == nil }
            if running.count > 1 { return "order \(index) has two live tasks" }
            guard let process, process.isIdle, process.state.isStarted else { continue }
            if !running.isEmpty, order.record != .open { return "a task of order \(index) works without a record" }
            if order.stage == 3, order.record != .none, order.record != .acknowledged, process.state.uploads[Self.ids[index]] == nil {
                return "order \(index) is open and nothing is done about it"
            }
            if order.hasFile, order.record != .open, order.stage != 1 { return "the file of order \(index) is left" }
        }
        return nil
    }

    /// What must hold when nothing more happens.
    var violationAtEnd: String? {
        guard let process else { return "the app is not opened any more" }
        if let handler = process.handlers.first { return "completion handler \(handler) is never called" }
        if !tasks.isEmpty { return "a task is left" }
        for (index, order) in orders.enumerated() {
            if order.record != .none, order.record != .acknowledged { return "the outcome of order \(index) is not acknowledged" }
            if order.record == .acknowledged, order.received == nil { return "order \(index) has no outcome" }
            if order.hasFile { return "the file of order \(index) is left" }
        }
        return nil
    }
}
